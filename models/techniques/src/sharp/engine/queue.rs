//! The requests that wait for service.

use super::Engine;
use super::table::Recorded;

/// Requests that wait.
pub(super) const QUEUE: usize = 16;

/// What is asked for a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sharp) enum Request {
    /// Check bits of its registers are made and kept.
    Record(u8),
    /// Its registers are checked against them.
    Check(u8),
}

impl Request {
    pub fn warp(self) -> u8 {
        match self {
            Self::Record(warp) | Self::Check(warp) => warp,
        }
    }
}

impl Engine {
    /// Puts a request into the queue. A full one takes no recording, and gives one up for a check; where it holds nothing but checks, a check waits outside.
    pub(super) fn ask(&mut self, request: Request) {
        if self.queue.len() >= QUEUE {
            let recording = |it: &Request| matches!(it, Request::Record(_));
            let latest = self.queue.iter().rposition(recording);
            match (request, latest) {
                (Request::Check(_), Some(place)) => {
                    self.queue.remove(place);
                    self.counts.dropped += 1;
                }
                (Request::Check(_), None) => {}
                (Request::Record(_), _) => {
                    self.counts.dropped += 1;
                    return;
                }
            }
        }
        self.counts.requests += 1;
        self.queue.push_back(request);
    }

    /// The next request that can be served.
    pub(super) fn next_request(&mut self) -> Option<(Request, u32)> {
        while let Some(request) = self.queue.pop_front() {
            self.counts.taken += 1;
            let known = self.table[usize::from(request.warp())].is_some();
            let serves = match request {
                Request::Check(_) => known,
                Request::Record(warp) => !known && !self.conflicts(warp),
            };
            if serves {
                if let Request::Record(warp) = request {
                    let none = vec![Recorded::default(); self.shape.registers as usize];
                    self.table[usize::from(warp)] = Some(none);
                }
                return Some((request, 0));
            }
            self.counts.dropped += 1;
            if let Request::Check(warp) = request {
                self.let_go(warp);
            }
        }
        None
    }
}
