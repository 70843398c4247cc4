//! One channel of DRAM: banks with an open row each, requests served first come, first served. Times are edges of the DRAM command clock.

use crate::DramSpec;

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    banks: Vec<Bank>,
    /// When the last request was begun; none overtakes it.
    last_start: u64,
    last_activate: Option<u64>,
    bus_free: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    row: Option<u64>,
    activated: u64,
    /// First edge at which another column command can be given.
    column_free: u64,
    /// First edge at which the row may be closed as far as written data demand it.
    close_after: u64,
}

/// One request to a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub bank: u64,
    pub row: u64,
    /// Edges of the data bus that its data take.
    pub transfer: u64,
    pub writes: bool,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// The edge after its last data.
    pub end: u64,
    pub row_hit: bool,
}

impl Channel {
    pub fn new(spec: &DramSpec) -> Self {
        Self {
            banks: vec![Bank::default(); spec.banks as usize],
            last_start: 0,
            last_activate: None,
            bus_free: 0,
        }
    }

    /// Serves a request that arrives at edge `now`, after all earlier ones.
    pub fn serve(&mut self, spec: &DramSpec, now: u64, access: Access) -> Served {
        let bank = &mut self.banks[access.bank as usize];
        let start = now.max(self.last_start);
        self.last_start = start;
        let row_hit = bank.row == Some(access.row);
        let column = if row_hit {
            start.max(bank.column_free)
        } else {
            let mut activate = start;
            if bank.row.is_some() {
                let close = start
                    .max(bank.activated + u64::from(spec.ras))
                    .max(bank.column_free)
                    .max(bank.close_after);
                activate = close + u64::from(spec.rp);
            }
            if let Some(last) = self.last_activate {
                activate = activate.max(last + u64::from(spec.rrd));
            }
            self.last_activate = Some(activate);
            bank.row = Some(access.row);
            bank.activated = activate;
            activate + u64::from(spec.rcd)
        };
        let data = (column + u64::from(spec.cas)).max(self.bus_free);
        let end = data + access.transfer;
        self.bus_free = end;
        bank.column_free = data - u64::from(spec.cas) + access.transfer.max(u64::from(spec.burst));
        if access.writes {
            bank.close_after = end + u64::from(spec.wr);
        }
        Served { end, row_hit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GpuSpec;

    fn read(bank: u64, row: u64) -> Access {
        Access {
            bank,
            row,
            transfer: 4,
            writes: false,
        }
    }

    #[test]
    fn a_row_hit_saves_the_activation() {
        let spec = GpuSpec::preset("tesla-16sm").unwrap().dram;
        let mut channel = Channel::new(&spec);
        let (rcd, cas) = (u64::from(spec.rcd), u64::from(spec.cas));
        assert_eq!(
            channel.serve(&spec, 100, read(0, 1)),
            Served {
                end: 100 + rcd + cas + 4,
                row_hit: false
            }
        );
        assert_eq!(
            channel.serve(&spec, 200, read(0, 1)),
            Served {
                end: 200 + cas + 4,
                row_hit: true
            }
        );
        let reopened = channel.serve(&spec, 300, read(0, 2));
        assert_eq!(
            reopened,
            Served {
                end: 300 + u64::from(spec.rp) + rcd + cas + 4,
                row_hit: false
            }
        );
    }

    #[test]
    fn a_row_stays_open_for_its_least_time() {
        let spec = GpuSpec::preset("tesla-16sm").unwrap().dram;
        let mut channel = Channel::new(&spec);
        channel.serve(&spec, 0, read(0, 1));
        let end = channel.serve(&spec, 1, read(0, 2)).end;
        let close = u64::from(spec.ras).max(u64::from(spec.rcd) + 4);
        assert_eq!(end, close + u64::from(spec.rp + spec.rcd + spec.cas) + 4);
    }

    #[test]
    fn row_hits_in_a_row_fill_the_bus() {
        let spec = GpuSpec::preset("tesla-16sm").unwrap().dram;
        let mut channel = Channel::new(&spec);
        let first = channel.serve(&spec, 0, read(0, 1)).end;
        let last = (0..10)
            .map(|_| channel.serve(&spec, 0, read(0, 1)).end)
            .last()
            .unwrap();
        assert_eq!(last, first + 40);
    }
}
