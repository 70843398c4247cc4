//! One direction of the network: a switch that inputs enter in order, with a crossbar or a mesh behind them.
//!
//! What waits at the head of an input for its output holds up what is behind it (head-of-line blocking: Karol, Hluchyj and Morgan, IEEE Transactions on
//! Communications 35(12), 1987). An output takes packets in the order in which they came to the heads of their inputs; it may be closed by what is behind
//! it, and then the inputs whose heads are for it wait.

use std::collections::VecDeque;

use super::mesh::Mesh;
use crate::NocSpec;
use crate::engine::ClockRatio;

/// The switch. Times inside are edges of the network's clock.
#[derive(Clone, Debug)]
pub(crate) struct Switch<P> {
    clock: ClockRatio,
    /// Of the crossbar.
    latency: u64,
    mesh: Option<Mesh>,
    /// Packets of an input that can cross at an edge, to different outputs.
    speedup: u64,
    /// Flits that an input and an output move at an edge.
    width: Sides,
    /// Packets of an input among which the first crosses whose output is free; the head if that is 1, which then waits for its output.
    lookahead: usize,
    inputs: Vec<Input<P>>,
    outputs: Vec<Output>,
}

/// What is offered to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet<P> {
    pub payload: P,
    /// The SM cycle from which it is there.
    pub ready: u64,
    pub flits: u64,
    pub output: usize,
}

#[derive(Clone, Debug)]
struct Input<P> {
    queue: VecDeque<Packet<P>>,
    /// Flits of its packets.
    flits: u64,
    /// From when its head can cross, in edges times the packets that can cross at an edge.
    free: u64,
    /// Its head will be looked at again, by an event or because its output opens.
    watched: bool,
    /// Whoever waits for room in the queue.
    turned_away: Vec<u16>,
}

#[derive(Clone, Debug, Default)]
struct Output {
    /// From when it is free, in edges times the flits that it moves at an edge.
    free: u64,
    /// Inputs whose heads wait for it to open.
    waiting: VecDeque<u16>,
}

/// What becomes of the head of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head<P> {
    /// It crosses, and arrives at an SM cycle.
    Crosses(P, u64),
    /// It can cross at an SM cycle at the earliest: look again then.
    Later(u64),
    /// Nothing to do now: there is none, or it is watched already, or its output is closed.
    Rests,
}

/// Something of a switch on either side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides<T = u64> {
    pub inputs: T,
    pub outputs: T,
}

impl<T> Sides<T> {
    /// Those of the other direction.
    pub fn reversed(self) -> Self {
        Self {
            inputs: self.outputs,
            outputs: self.inputs,
        }
    }
}

/// What of the first packets of an input crosses.
enum First {
    /// The one at a place in the queue.
    Crosses(usize),
    /// None before an edge.
    Later(u64),
    /// None: what they are for is closed.
    Closed,
}

impl<P: Copy> Switch<P> {
    /// A switch of a crossbar's inputs and outputs, so many and so wide, or of a mesh between them.
    pub fn new(
        clock: ClockRatio,
        noc: &NocSpec,
        mesh: Option<Mesh>,
        (ports, width): (Sides<usize>, Sides),
    ) -> Self {
        let input = Input {
            queue: VecDeque::new(),
            flits: 0,
            free: 0,
            watched: false,
            turned_away: Vec::new(),
        };
        Self {
            clock,
            latency: u64::from(noc.latency),
            mesh,
            speedup: u64::from(noc.input_speedup),
            width,
            lookahead: noc.lookahead as usize,
            inputs: vec![input; ports.inputs],
            outputs: vec![Output::default(); ports.outputs],
        }
    }

    /// Flits that wait at an input.
    #[inline]
    pub fn waiting(&self, input: usize) -> u64 {
        self.inputs[input].flits
    }

    /// `who` wants to know of room at an input.
    pub fn turn_away(&mut self, input: usize, who: u16) {
        let turned_away = &mut self.inputs[input].turned_away;
        if !turned_away.contains(&who) {
            turned_away.push(who);
        }
    }

    /// Those that wanted to know of room at an input, if there are any.
    pub fn take_turned_away(&mut self, input: usize) -> Vec<u16> {
        std::mem::take(&mut self.inputs[input].turned_away)
    }

    /// Puts a packet into an input at SM cycle `now`; `open` says whether its output is.
    #[inline]
    pub fn offer(&mut self, input: usize, packet: Packet<P>, now: u64, open: bool) -> Head<P> {
        let state = &mut self.inputs[input];
        let ready = self.clock.edge(packet.ready.max(now));
        let edge = ready.max(state.free / self.speedup);
        let at = self.clock.core_cycle(edge);
        if open && state.queue.is_empty() && at <= now {
            let free = self.free_from(packet.output);
            if self.lookahead == 1 || free <= edge {
                return self.cross(input, &packet, edge);
            }
        }
        let state = &mut self.inputs[input];
        state.queue.push_back(packet);
        state.flits += packet.flits;
        if state.watched {
            return Head::Rests;
        }
        state.watched = true;
        Head::Later(at.max(now))
    }

    /// Looks at the head of an input, or at its first packets; `is_open` says whether an output is.
    pub fn look(&mut self, input: usize, now: u64, is_open: impl Fn(usize) -> bool) -> Head<P> {
        let state = &mut self.inputs[input];
        state.watched = false;
        let Some(&head) = state.queue.front() else {
            return Head::Rests;
        };
        state.watched = true;
        let edge = self.clock.edge(head.ready).max(state.free / self.speedup);
        let at = self.clock.core_cycle(edge);
        if at > now {
            return Head::Later(at);
        }
        // What a closed output has held up crosses now.
        let edge = if at == now {
            edge
        } else {
            self.clock.edge(now)
        };
        let place = match self.first_of(input, edge, is_open) {
            First::Crosses(place) => place,
            First::Closed => {
                self.outputs[head.output].waiting.push_back(input as u16);
                return Head::Rests;
            }
            First::Later(edge) => return Head::Later(self.clock.core_cycle(edge).max(now + 1)),
        };
        let state = &mut self.inputs[input];
        let Some(packet) = state.queue.remove(place) else {
            return Head::Rests;
        };
        state.flits -= packet.flits;
        self.cross(input, &packet, edge)
    }

    /// Which of an input's first packets crosses at an edge.
    fn first_of(&self, input: usize, edge: u64, is_open: impl Fn(usize) -> bool) -> First {
        let queue = &self.inputs[input].queue;
        let mut found = First::Closed;
        for (place, packet) in queue.iter().enumerate().take(self.lookahead) {
            if place > 0 && self.clock.edge(packet.ready) > edge {
                break;
            }
            if !is_open(packet.output) {
                continue;
            }
            let free = self.free_from(packet.output);
            if free <= edge || self.lookahead == 1 {
                return First::Crosses(place);
            }
            found = match found {
                First::Later(before) => First::Later(before.min(free)),
                _ => First::Later(free),
            };
        }
        found
    }

    /// The edge from which an output has room for a flit.
    fn free_from(&self, output: usize) -> u64 {
        self.outputs[output].free / self.width.outputs
    }

    fn cross(&mut self, input: usize, packet: &Packet<P>, edge: u64) -> Head<P> {
        let output = &mut self.outputs[packet.output];
        let (sent, arrival) = match &mut self.mesh {
            None => {
                let width = self.width.outputs;
                output.free = (edge * width).max(output.free) + packet.flits;
                // A narrow input keeps a wide output waiting, which takes others' flits meanwhile.
                let least = packet.flits.div_ceil(self.width.inputs);
                let sent = output.free.div_ceil(width).max(edge + least);
                (sent, sent + self.latency)
            }
            Some(mesh) => {
                let there = mesh.travel(input, packet.output, packet.flits, edge);
                output.free = there.max(output.free + packet.flits);
                (edge + packet.flits, output.free)
            }
        };
        // A wide input is done before a narrow output is.
        let [slow, fast] = [1, self.width.inputs].map(|width| packet.flits.div_ceil(width));
        let free = &mut self.inputs[input].free;
        *free = (*free).max((sent - 1 - (slow - fast)) * self.speedup) + 1;
        Head::Crosses(packet.payload, self.clock.core_cycle(arrival))
    }

    /// An input that waits for `output` to open.
    pub fn next_waiting(&mut self, output: usize) -> Option<usize> {
        self.outputs[output].waiting.pop_front().map(usize::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GpuSpec;

    const NARROW: Sides = Sides {
        inputs: 1,
        outputs: 1,
    };

    fn crossbar(width: Sides) -> Switch<u32> {
        looking(1, width)
    }

    fn looking(lookahead: u32, width: Sides) -> Switch<u32> {
        let noc = NocSpec {
            latency: 5,
            input_speedup: 1,
            lookahead,
            ..GpuSpec::preset("gtx480").unwrap().noc
        };
        let ports = Sides {
            inputs: 2,
            outputs: 2,
        };
        Switch::new(ClockRatio::new(1000, 1000), &noc, None, (ports, width))
    }

    fn packet(payload: u32, output: usize) -> Packet<u32> {
        Packet {
            payload,
            ready: 0,
            flits: 2,
            output,
        }
    }

    #[test]
    fn packets_for_one_output_cross_one_after_the_other() {
        let mut crossbar = crossbar(NARROW);
        assert_eq!(
            crossbar.offer(0, packet(1, 0), 10, true),
            Head::Crosses(1, 17)
        );
        assert_eq!(
            crossbar.offer(1, packet(2, 0), 10, true),
            Head::Crosses(2, 19)
        );
    }

    /// Two inputs of a flit an edge fill an output of two.
    #[test]
    fn a_wide_output_takes_two_packets_at_once() {
        let mut crossbar = crossbar(Sides {
            outputs: 2,
            ..NARROW
        });
        for (input, arrival) in [(0, 17), (1, 17)] {
            let head = crossbar.offer(input, packet(1, 0), 10, true);
            assert_eq!(head, Head::Crosses(1, arrival));
        }
        // The input has sent its last flit at edge 11.
        let head = crossbar.offer(0, packet(2, 1), 10, true);
        assert_eq!(head, Head::Later(12));
        assert_eq!(crossbar.look(0, 12, |_| true), Head::Crosses(2, 19));
    }

    /// The output takes two edges for each packet, the input one.
    #[test]
    fn a_wide_input_fills_two_outputs() {
        let mut crossbar = crossbar(Sides {
            inputs: 2,
            ..NARROW
        });
        let head = crossbar.offer(0, packet(1, 0), 10, true);
        assert_eq!(head, Head::Crosses(1, 17));
        assert_eq!(crossbar.offer(0, packet(2, 1), 10, true), Head::Later(11));
        assert_eq!(crossbar.look(0, 11, |_| true), Head::Crosses(2, 18));
    }

    /// The second packet's output is free, but the first one in its input waits for another.
    #[test]
    fn the_head_of_an_input_holds_up_what_is_behind_it() {
        let mut crossbar = crossbar(NARROW);
        crossbar.offer(0, packet(1, 0), 10, true);
        crossbar.offer(1, packet(2, 0), 10, true);
        assert_eq!(crossbar.offer(1, packet(3, 1), 10, true), Head::Later(14));
        assert_eq!(crossbar.offer(1, packet(4, 1), 10, true), Head::Rests);
        assert_eq!(crossbar.look(1, 14, |_| true), Head::Crosses(3, 21));
        assert_eq!(crossbar.look(1, 14, |_| true), Head::Later(16));
    }

    /// What waits for a busy output lets the one behind it go first, if its output is free.
    #[test]
    fn an_input_looks_ahead() {
        let mut crossbar = looking(2, NARROW);
        crossbar.offer(0, packet(1, 0), 10, true);
        assert_eq!(crossbar.offer(1, packet(2, 0), 10, true), Head::Later(10));
        assert_eq!(crossbar.offer(1, packet(3, 1), 10, true), Head::Rests);
        assert_eq!(crossbar.look(1, 10, |_| true), Head::Crosses(3, 17));
        assert_eq!(crossbar.look(1, 10, |_| true), Head::Later(12));
        assert_eq!(crossbar.look(1, 12, |_| true), Head::Crosses(2, 19));
    }

    #[test]
    fn a_closed_output_keeps_its_packets_in_their_inputs() {
        let mut crossbar = crossbar(NARROW);
        assert_eq!(crossbar.offer(0, packet(1, 1), 10, false), Head::Later(10));
        assert_eq!(crossbar.look(0, 10, |_| false), Head::Rests);
        assert_eq!(crossbar.waiting(0), 2);
        assert_eq!(crossbar.next_waiting(1), Some(0));
        assert_eq!(crossbar.look(0, 30, |_| true), Head::Crosses(1, 37));
        assert_eq!(crossbar.waiting(0), 0);
    }

    #[test]
    fn what_is_not_ready_is_looked_at_when_it_is() {
        let mut crossbar = crossbar(NARROW);
        let late = Packet {
            ready: 20,
            ..packet(1, 0)
        };
        assert_eq!(crossbar.offer(0, late, 10, true), Head::Later(20));
        assert_eq!(crossbar.look(0, 20, |_| true), Head::Crosses(1, 27));
    }
}
