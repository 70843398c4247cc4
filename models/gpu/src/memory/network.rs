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
    /// The edge from which it is free.
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

/// How many a switch has on either side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchPorts {
    pub inputs: usize,
    pub outputs: usize,
}

impl<P: Copy> Switch<P> {
    /// A switch of a crossbar's inputs and outputs, or of a mesh between them.
    pub fn new(clock: ClockRatio, noc: &NocSpec, mesh: Option<Mesh>, ports: SwitchPorts) -> Self {
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
            return self.cross(input, &packet, edge);
        }
        state.queue.push_back(packet);
        state.flits += packet.flits;
        if state.watched {
            return Head::Rests;
        }
        state.watched = true;
        Head::Later(at.max(now))
    }

    /// The output of the head of an input.
    pub fn wants(&self, input: usize) -> Option<usize> {
        self.inputs[input].queue.front().map(|head| head.output)
    }

    /// Looks at the head of an input; `open` says whether its output is.
    pub fn look(&mut self, input: usize, now: u64, open: bool) -> Head<P> {
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
        if !open {
            self.outputs[head.output].waiting.push_back(input as u16);
            return Head::Rests;
        }
        state.queue.pop_front();
        state.flits -= head.flits;
        // What a closed output has held up crosses now.
        let edge = if at == now {
            edge
        } else {
            self.clock.edge(now)
        };
        self.cross(input, &head, edge)
    }

    fn cross(&mut self, input: usize, packet: &Packet<P>, edge: u64) -> Head<P> {
        let output = &mut self.outputs[packet.output];
        let (sent, arrival) = match &mut self.mesh {
            None => {
                output.free = edge.max(output.free) + packet.flits;
                (output.free, output.free + self.latency)
            }
            Some(mesh) => {
                let there = mesh.travel(input, packet.output, packet.flits, edge);
                output.free = there.max(output.free + packet.flits);
                (edge + packet.flits, output.free)
            }
        };
        let free = &mut self.inputs[input].free;
        *free = (*free).max((sent - 1) * self.speedup) + 1;
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

    fn crossbar() -> Switch<u32> {
        let noc = NocSpec {
            latency: 5,
            input_speedup: 1,
            ..GpuSpec::preset("gtx480").unwrap().noc
        };
        let ports = SwitchPorts {
            inputs: 2,
            outputs: 2,
        };
        Switch::new(ClockRatio::new(1000, 1000), &noc, None, ports)
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
        let mut crossbar = crossbar();
        assert_eq!(
            crossbar.offer(0, packet(1, 0), 10, true),
            Head::Crosses(1, 17)
        );
        assert_eq!(
            crossbar.offer(1, packet(2, 0), 10, true),
            Head::Crosses(2, 19)
        );
    }

    /// The second packet's output is free, but the first one in its input waits for another.
    #[test]
    fn the_head_of_an_input_holds_up_what_is_behind_it() {
        let mut crossbar = crossbar();
        crossbar.offer(0, packet(1, 0), 10, true);
        crossbar.offer(1, packet(2, 0), 10, true);
        assert_eq!(crossbar.offer(1, packet(3, 1), 10, true), Head::Later(14));
        assert_eq!(crossbar.offer(1, packet(4, 1), 10, true), Head::Rests);
        assert_eq!(crossbar.look(1, 14, true), Head::Crosses(3, 21));
        assert_eq!(crossbar.look(1, 14, true), Head::Later(16));
    }

    #[test]
    fn a_closed_output_keeps_its_packets_in_their_inputs() {
        let mut crossbar = crossbar();
        assert_eq!(crossbar.offer(0, packet(1, 1), 10, false), Head::Later(10));
        assert_eq!(crossbar.look(0, 10, false), Head::Rests);
        assert_eq!(crossbar.waiting(0), 2);
        assert_eq!(crossbar.next_waiting(1), Some(0));
        assert_eq!(crossbar.look(0, 30, true), Head::Crosses(1, 37));
        assert_eq!(crossbar.waiting(0), 0);
    }

    #[test]
    fn what_is_not_ready_is_looked_at_when_it_is() {
        let mut crossbar = crossbar();
        let late = Packet {
            ready: 20,
            ..packet(1, 0)
        };
        assert_eq!(crossbar.offer(0, late, 10, true), Head::Later(20));
        assert_eq!(crossbar.look(0, 20, true), Head::Crosses(1, 27));
    }
}
