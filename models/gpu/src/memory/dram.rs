//! One channel of DRAM: banks with an open row each. Times are edges of the DRAM command clock.
//!
//! First come, first served: the future of a request is known when it arrives. First ready, first come, first served: each bank works on one request at a
//! time, and chooses the next when it has given the column access of the last; the data bus serves the banks as they become ready.
//!
//! Banks are refreshed one by one, each in its own time. A refresh that is due waits while its bank has something to do, until so many are due that the
//! standards allow no more to wait. Nothing happens at a refresh: the next request of a bank finds out what has become of it.

use std::collections::VecDeque;

use super::Request;
use crate::{DramSpec, SECTOR_BYTES};

/// Refreshes of a bank that may wait, as the standards of JEDEC allow; recalled.
const POSTPONED: u64 = 8;

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    banks: Vec<Bank>,
    /// When the last request was begun; none overtakes it. First come, first served only.
    last_start: u64,
    last_activate: Option<u64>,
    /// First edge at which a column access may be given, by bank group and at all.
    groups_free: Vec<u64>,
    columns_free: u64,
    bus_free: u64,
    last: Option<LastColumn>,
    /// Places taken in the queue from which banks choose, and requests behind it.
    visible: u32,
    behind: VecDeque<u32>,
    /// Places taken by what is on its way from slices, in DRAM, or on its way back, and the slice that sent last.
    in_flight: u32,
    last_slice: usize,
}

/// The column access given last.
#[derive(Clone, Copy, Debug)]
struct LastColumn {
    at: u64,
    /// Cycles that its data take.
    transfer: u64,
    writes: bool,
}

#[derive(Clone, Debug, Default)]
struct Bank {
    row: Option<u32>,
    activated: u64,
    /// First edge at which another column command can be given.
    column_free: u64,
    /// First edge at which the row may be closed as far as data demand it.
    close_after: u64,
    current: Option<u32>,
    queue: VecDeque<u32>,
    /// When its next refresh falls due, and the edge after the last one.
    due: u64,
    refreshed: u64,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// An atomic without a second-level cache to do it in.
    ReadWrite,
    /// None: the other partition of the second-level cache is asked.
    Crossing,
}

/// One request to a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DramRequest {
    pub slice: u16,
    /// The line of the slice that waits for it.
    pub place: u32,
    pub mask: u8,
    pub bank: u16,
    pub row: u32,
    pub access: Access,
    /// The request of an SM behind it, where there is no second-level cache.
    pub origin: Option<Request>,
}

impl DramRequest {
    /// Places that it takes in queues: sectors are read one by one, what is written is written together.
    pub fn entries(&self) -> u32 {
        if self.access == Access::Read {
            self.mask.count_ones()
        } else {
            1
        }
    }

    fn writes(&self) -> bool {
        self.access != Access::Read
    }

    /// Column accesses: sectors are read one by one, what is written is written together.
    fn columns(&self, spec: &DramSpec) -> u64 {
        let sectors = u64::from(self.mask.count_ones());
        if self.writes() {
            (sectors * u64::from(SECTOR_BYTES)).div_ceil(u64::from(spec.atom_bytes))
        } else {
            sectors
        }
    }

    /// Edges of the data bus that its data take.
    pub fn transfer(&self, spec: &DramSpec) -> u64 {
        let atom = u64::from(spec.atom_bytes.div_ceil(spec.bytes_per_cycle));
        let passes = if self.access == Access::ReadWrite {
            2
        } else {
            1
        };
        passes * self.columns(spec) * atom
    }
}

/// What became of a request that nothing can overtake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// The edge after its last data.
    pub end: u64,
    pub row_hit: bool,
}

/// A bank has begun with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub request: u32,
    pub bank: usize,
    /// The edge at which its column access can be given.
    pub column: u64,
    pub row_hit: bool,
}

/// What becomes of a bank that is ready for its column access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has taken its turn: the request, and the edge after its last data.
    Taken { number: u32, end: u64 },
    /// Not before this edge.
    Again { at: u64 },
}

impl Channel {
    /// Channel `number` of the GPU.
    pub fn new(spec: &DramSpec, number: u32) -> Self {
        let bank = |bank| Bank {
            due: first_refresh(spec, number, bank),
            ..Bank::default()
        };
        Self {
            banks: (0..spec.banks).map(bank).collect(),
            last_start: 0,
            last_activate: None,
            groups_free: vec![0; spec.bank_groups as usize],
            columns_free: 0,
            bus_free: 0,
            last: None,
            visible: 0,
            behind: VecDeque::new(),
            in_flight: 0,
            last_slice: 0,
        }
    }

    /// Whether there is room for a request of a slice.
    pub fn admits(&self, spec: &DramSpec, request: &DramRequest) -> bool {
        self.in_flight == 0 || self.in_flight + request.entries() <= spec.in_flight
    }

    /// A request of a slice is on its way.
    pub fn admit(&mut self, request: &DramRequest) {
        self.in_flight += request.entries();
    }

    /// It is done.
    pub fn dismiss(&mut self, request: &DramRequest) {
        self.in_flight -= request.entries();
    }

    /// Whose turn it is among `slices`.
    pub fn next_slice(&mut self, slices: usize) -> usize {
        self.last_slice = (self.last_slice + 1) % slices;
        self.last_slice
    }

    /// Serves a request that arrives at edge `now`, after all earlier ones.
    pub fn serve(&mut self, spec: &DramSpec, now: u64, request: &DramRequest) -> Served {
        let start = now.max(self.last_start);
        self.last_start = start;
        let (column, row_hit) = self.open(spec, start, request);
        let transfer = request.transfer(spec);
        let data = (column + u64::from(spec.cas)).max(self.bus_free);
        let end = data + transfer;
        self.bus_free = end;
        let bank = &mut self.banks[usize::from(request.bank)];
        bank.column_free = data - u64::from(spec.cas) + transfer.max(u64::from(spec.burst));
        if request.writes() {
            bank.close_after = end + u64::from(spec.wr);
        }
        Served { end, row_hit }
    }

    /// Makes the request's row the open one; the edge from which its column access can be given, and whether the row was open.
    fn open(&mut self, spec: &DramSpec, start: u64, request: &DramRequest) -> (u64, bool) {
        let bank = &mut self.banks[usize::from(request.bank)];
        let start = bank.refresh(spec, start);
        if bank.row == Some(request.row) {
            return (start.max(bank.column_free), true);
        }
        let mut activate = start;
        if bank.row.is_some() {
            activate = start.max(bank.may_close(spec)) + u64::from(spec.rp);
        }
        if let Some(last) = self.last_activate {
            activate = activate.max(last + u64::from(spec.rrd));
        }
        self.last_activate = Some(activate);
        bank.row = Some(request.row);
        bank.activated = activate;
        (activate + u64::from(spec.rcd), false)
    }

    /// A request enters the queue; what its bank begins thereupon.
    pub fn enter(
        &mut self,
        spec: &DramSpec,
        now: u64,
        number: u32,
        requests: &[DramRequest],
    ) -> Option<Begun> {
        if !self.behind.is_empty() || !self.sees(spec, &requests[number as usize]) {
            self.behind.push_back(number);
            return None;
        }
        self.choose_from(spec, now, number, requests)
    }

    /// Whether the queue has room for a request.
    fn sees(&self, spec: &DramSpec, request: &DramRequest) -> bool {
        self.visible == 0 || self.visible + request.entries() <= spec.queue
    }

    /// Banks may choose a request from now on.
    fn choose_from(
        &mut self,
        spec: &DramSpec,
        now: u64,
        number: u32,
        requests: &[DramRequest],
    ) -> Option<Begun> {
        let request = &requests[number as usize];
        self.visible += request.entries();
        let bank = usize::from(request.bank);
        self.banks[bank].queue.push_back(number);
        self.begin(spec, now, bank, requests)
    }

    /// An idle bank begins with the oldest request for its open row, or else with the oldest.
    fn begin(
        &mut self,
        spec: &DramSpec,
        now: u64,
        index: usize,
        requests: &[DramRequest],
    ) -> Option<Begun> {
        let bank = &mut self.banks[index];
        if bank.current.is_some() {
            return None;
        }
        let open = bank.row;
        let ready = |number: &u32| Some(requests[*number as usize].row) == open;
        let chosen = bank.queue.iter().position(ready).unwrap_or(0);
        let number = bank.queue.remove(chosen)?;
        bank.current = Some(number);
        let (column, row_hit) = self.open(spec, now, &requests[number as usize]);
        Some(Begun {
            request: number,
            bank: index,
            column,
            row_hit,
        })
    }

    /// The bank's request takes its turn on the data bus: the next one that is free, unless its bank group or the direction of the bus hold it up, for others
    /// may go first then. If it does, `begun` gets what the bank begins next, and what begins because there is room in the queue.
    pub fn column(
        &mut self,
        spec: &DramSpec,
        now: u64,
        index: usize,
        requests: &[DramRequest],
        begun: &mut Vec<Begun>,
    ) -> Option<Turn> {
        let number = self.banks[index].current?;
        let request = &requests[number as usize];
        let bus = now.max(self.columns_free);
        let at = self.allowed(spec, index, request);
        if at > bus {
            return Some(Turn::Again { at });
        }
        self.banks[index].current = None;
        let end = self.transfer(spec, bus, index, request);
        self.visible -= request.entries();
        begun.extend(self.begin(spec, now, index, requests));
        while let Some(&next) = self.behind.front() {
            if !self.sees(spec, &requests[next as usize]) {
                break;
            }
            self.behind.pop_front();
            begun.extend(self.choose_from(spec, now, next, requests));
        }
        Some(Turn::Taken { number, end })
    }

    /// The first edge at which bank group and direction of the bus allow column accesses of a request.
    fn allowed(&self, spec: &DramSpec, index: usize, request: &DramRequest) -> u64 {
        let group = self.groups_free[index % self.groups_free.len()];
        match self.last {
            Some(last) => group.max(last.at + turnaround(spec, last, request.writes())),
            None => group,
        }
    }

    /// Gives the column accesses of a request from an edge on; the edge after its last data.
    fn transfer(&mut self, spec: &DramSpec, at: u64, index: usize, request: &DramRequest) -> u64 {
        let group = index % self.groups_free.len();
        let columns = request.columns(spec);
        let burst = u64::from(spec.burst);
        let same = u64::from(spec.burst_same_group).max(burst);
        let writes = request.writes();
        let last_column = at + (columns - 1) * same;
        self.columns_free = at + columns * burst;
        self.groups_free[group] = at + columns * same;
        self.last = Some(LastColumn {
            at,
            transfer: columns * burst,
            writes,
        });
        let to_data = u64::from(if writes { spec.cwl } else { spec.cas });
        let end = last_column + to_data + burst;
        let bank = &mut self.banks[index];
        bank.column_free = at + columns * same;
        bank.close_after = if writes {
            end + u64::from(spec.wr)
        } else {
            last_column + u64::from(spec.rtp)
        };
        end
    }
}

/// When a bank of a channel is refreshed first. Banks take turns in an order in which no stream of rows follows them, and channels are apart.
fn first_refresh(spec: &DramSpec, channel: u32, bank: u32) -> u64 {
    let [interval, banks, channel, bank] =
        [spec.refresh_interval, spec.banks, channel, bank].map(u64::from);
    if interval == 0 {
        return 0;
    }
    let turn = (37 * bank + 11 * channel) % banks;
    (turn * interval + channel * 7 % interval) / banks
}

impl Bank {
    /// Refreshes that come before a request, which is there from `start` on; the first edge at which the bank is free for it.
    fn refresh(&mut self, spec: &DramSpec, start: u64) -> u64 {
        let interval = u64::from(spec.refresh_interval);
        if interval == 0 {
            return start;
        }
        let mut free = self.closed(spec);
        // Those that fell due in a long pause are over, but for the last one.
        let last = start - start.saturating_sub(self.due) % interval;
        if start > self.due && last > free {
            self.due = last;
        }
        loop {
            let begin = self.due.max(free);
            if begin >= start && start < self.due + POSTPONED * interval {
                return start.max(self.refreshed);
            }
            self.refreshed = begin + u64::from(spec.refresh);
            self.due += interval;
            self.row = None;
            free = self.refreshed;
        }
    }

    /// The first edge at which its row may be closed.
    fn may_close(&self, spec: &DramSpec) -> u64 {
        (self.activated + u64::from(spec.ras))
            .max(self.column_free)
            .max(self.close_after)
    }

    /// The first edge at which it can be without a row.
    fn closed(&self, spec: &DramSpec) -> u64 {
        match self.row {
            Some(_) => self.may_close(spec) + u64::from(spec.rp),
            None => self.refreshed,
        }
    }
}

/// Edges between two column accesses of different direction, from the first one on.
fn turnaround(spec: &DramSpec, last: LastColumn, writes: bool) -> u64 {
    match (last.writes, writes) {
        (true, false) => u64::from(spec.cwl + spec.wtr) + last.transfer,
        // The bus is given two cycles to turn.
        (false, true) => {
            (u64::from(spec.cas) + last.transfer + 2).saturating_sub(u64::from(spec.cwl))
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GpuSpec;

    fn read(bank: u16, row: u32) -> DramRequest {
        DramRequest {
            slice: 0,
            place: 0,
            mask: 0b11,
            bank,
            row,
            access: Access::Read,
            origin: None,
        }
    }

    #[test]
    fn a_row_hit_saves_the_activation() {
        let spec = GpuSpec::preset("tesla-16sm").unwrap().dram;
        let mut channel = Channel::new(&spec, 0);
        let (rcd, cas) = (u64::from(spec.rcd), u64::from(spec.cas));
        let served = |end, row_hit| Served { end, row_hit };
        assert_eq!(
            channel.serve(&spec, 100, &read(0, 1)),
            served(100 + rcd + cas + 4, false)
        );
        assert_eq!(
            channel.serve(&spec, 200, &read(0, 1)),
            served(200 + cas + 4, true)
        );
        let reopened = channel.serve(&spec, 300, &read(0, 2));
        assert_eq!(
            reopened,
            served(300 + u64::from(spec.rp) + rcd + cas + 4, false)
        );
    }

    #[test]
    fn a_row_stays_open_for_its_least_time() {
        let spec = GpuSpec::preset("tesla-16sm").unwrap().dram;
        let mut channel = Channel::new(&spec, 0);
        channel.serve(&spec, 0, &read(0, 1));
        let end = channel.serve(&spec, 1, &read(0, 2)).end;
        let close = u64::from(spec.ras).max(u64::from(spec.rcd) + 4);
        assert_eq!(end, close + u64::from(spec.rp + spec.rcd + spec.cas) + 4);
    }

    #[test]
    fn row_hits_in_a_row_fill_the_bus() {
        let spec = GpuSpec::preset("tesla-16sm").unwrap().dram;
        let mut channel = Channel::new(&spec, 0);
        let first = channel.serve(&spec, 0, &read(0, 1)).end;
        let last = (0..10)
            .map(|_| channel.serve(&spec, 0, &read(0, 1)).end)
            .last()
            .unwrap();
        assert_eq!(last, first + 40);
    }

    /// Rows 1, 2, 1 in one bank: the open row is served to its end before the other.
    #[test]
    fn a_request_for_the_open_row_overtakes() {
        let mut spec = GpuSpec::preset("v100").unwrap().dram;
        spec.refresh_interval = 0;
        let mut channel = Channel::new(&spec, 0);
        let requests = [read(0, 1), read(0, 2), read(0, 1), read(1, 5)];
        let begun = channel.enter(&spec, 10, 0, &requests).unwrap();
        assert_eq!((begun.request, begun.row_hit), (0, false));
        assert_eq!(begun.column, 10 + u64::from(spec.rcd));
        for number in [1, 2] {
            assert_eq!(channel.enter(&spec, 11, number, &requests), None);
        }
        let other = channel.enter(&spec, 11, 3, &requests).unwrap();
        assert_eq!(
            other.column,
            10 + u64::from(spec.rrd + spec.rcd),
            "another bank opens its row meanwhile"
        );
        let mut next = Vec::new();
        let done = channel.column(&spec, begun.column, 0, &requests, &mut next);
        assert!(matches!(done, Some(Turn::Taken { number: 0, .. })));
        assert_eq!((next[0].request, next[0].row_hit), (2, true));
    }

    #[test]
    fn a_full_queue_hides_what_is_behind_it() {
        let mut spec = GpuSpec::preset("v100").unwrap().dram;
        spec.queue = 4;
        let mut channel = Channel::new(&spec, 0);
        let requests = [read(0, 1), read(0, 2), read(0, 1)];
        let begun = channel.enter(&spec, 0, 0, &requests).unwrap();
        channel.enter(&spec, 0, 1, &requests);
        channel.enter(&spec, 0, 2, &requests);
        let mut next = Vec::new();
        channel.column(&spec, begun.column, 0, &requests, &mut next);
        assert_eq!(next[0].request, 1, "2 was not seen yet");
    }

    /// Its bank 0 is refreshed at 0 and every 1000 edges, for 60.
    fn refreshed() -> (DramSpec, Channel) {
        let mut spec = GpuSpec::preset("v100").unwrap().dram;
        (spec.refresh_interval, spec.refresh) = (1000, 60);
        let channel = Channel::new(&spec, 0);
        assert_eq!(first_refresh(&spec, 0, 0), 0);
        (spec, channel)
    }

    #[test]
    fn a_bank_without_work_is_refreshed_when_it_is_due_and_loses_its_row() {
        let (spec, mut channel) = refreshed();
        let requests = [read(0, 1)];
        let rcd = u64::from(spec.rcd);
        let [during, same, later, long_after] = [30, 500, 2500, 1_000_010].map(|now| {
            let begun = channel.enter(&spec, now, 0, &requests).unwrap();
            channel.column(&spec, begun.column, 0, &requests, &mut Vec::new());
            (begun.column, begun.row_hit)
        });
        assert_eq!(during, (60 + rcd, false), "it waits for the refresh at 0");
        assert_eq!(same, (500, true));
        assert_eq!(later, (2500 + rcd, false), "closed by the refresh at 2000");
        assert_eq!(
            long_after,
            (1_000_060 + rcd, false),
            "one of a thousand is left"
        );
    }

    #[test]
    fn refreshes_wait_for_requests_but_no_more_than_eight_of_them() {
        let (spec, mut channel) = refreshed();
        let requests = [read(0, 1), read(0, 1)];
        let first = channel.enter(&spec, 500, 0, &requests).unwrap();
        channel.enter(&spec, 500, 1, &requests);
        let (mut column, mut number) = (first.column, 1);
        // There is always another request, 400 edges later.
        let mut misses = Vec::new();
        for now in (900..).step_by(400).take(30) {
            let mut begun = Vec::new();
            channel.column(&spec, now.max(column), 0, &requests, &mut begun);
            if !begun[0].row_hit {
                misses.push(now);
            }
            column = begun[0].column;
            number = 1 - number;
            channel.enter(&spec, now, number, &requests);
        }
        let overdue: Vec<u64> = misses.iter().map(|now| now / 1000).collect();
        assert_eq!(overdue, [9, 10, 11, 12], "that of 1000 at 9000, and so on");
    }

    /// One refresh of all banks of all channels at once would stop everything.
    #[test]
    fn banks_and_channels_are_refreshed_at_different_times() {
        let spec = GpuSpec::preset("h100").unwrap().dram;
        let all = (0..spec.controllers).flat_map(|channel| {
            let spec = &spec;
            (0..spec.banks).map(move |bank| first_refresh(spec, channel, bank))
        });
        let mut slots = vec![0u32; spec.banks as usize];
        for at in all {
            assert!(at < u64::from(spec.refresh_interval));
            let turn = (at + 1) * u64::from(spec.banks) / u64::from(spec.refresh_interval);
            slots[turn as usize] += 1;
        }
        assert!(
            slots
                .iter()
                .all(|&banks| banks.abs_diff(spec.controllers) < 8)
        );
    }
}
