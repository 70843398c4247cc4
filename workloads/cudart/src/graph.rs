//! What streams are asked to do, at once or as nodes of a graph, and graphs.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Code, Outcome};
use crate::foreign::Callback;
use crate::request::Request;

/// Work.
#[derive(Clone, Debug)]
pub enum Op {
    /// A kernel.
    Launch(Request),
    /// Bytes are copied.
    Copy(Copying),
    /// Bytes are written.
    Fill(Filling),
    /// The program is called.
    Call(Callback),
    /// An event is recorded.
    Record(u64),
    /// Memory is given back.
    Free(u64),
    /// Another graph.
    Graph(u64),
    /// Nothing: an empty node.
    Nothing,
}

/// One side of a copy: where its first byte is, and the bytes from a row and from a plane to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Address.
    pub address: u64,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// Bytes from a plane to the next.
    pub plane: u64,
}

impl Side {
    /// Bytes one behind the other.
    pub fn plain(address: u64) -> Self {
        Self::rows(address, 0)
    }

    /// Rows of one plane.
    pub fn rows(address: u64, pitch: u64) -> Self {
        Self {
            address,
            pitch,
            plane: 0,
        }
    }

    /// Where a row of a plane begins.
    ///
    /// # Errors
    /// Beyond all addresses.
    pub fn row(&self, y: u64, z: u64) -> Outcome<u64> {
        let offset = z.checked_mul(self.plane);
        let offset = offset.and_then(|planes| planes.checked_add(y.checked_mul(self.pitch)?));
        let address = offset.and_then(|offset| self.address.checked_add(offset));
        address.ok_or(Code::INVALID_VALUE)
    }
}

/// A copy: bytes of a row, rows, planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copying {
    /// Where to.
    pub to: Side,
    /// Where from.
    pub from: Side,
    /// Bytes, rows, planes.
    pub extent: [u64; 3],
    /// As C says it (`cudaMemcpyKind`): host to host (0), to device (1), to host (2), within the device (3), as the addresses say (4).
    pub kind: i32,
}

impl Copying {
    /// Bytes one behind the other.
    pub fn plain(to: u64, from: u64, bytes: u64, kind: i32) -> Self {
        Self {
            to: Side::plain(to),
            from: Side::plain(from),
            extent: [bytes, 1, 1],
            kind,
        }
    }
}

/// Rows that are filled with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Where.
    pub to: Side,
    /// Bytes, rows, planes.
    pub extent: [u64; 3],
    /// The value, of `size` bytes.
    pub value: u32,
    /// 1, 2 or 4.
    pub size: u32,
}

/// A node: what it does, and the nodes before it.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// Who must be done before.
    pub after: Vec<u64>,
}

/// A graph: nodes by handle.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Its nodes.
    pub nodes: BTreeMap<u64, Node>,
}

impl Graph {
    /// Its nodes so that each stands behind those that it waits for; of those that may be next, the first that was made.
    ///
    /// # Errors
    /// They wait for each other.
    pub fn order(&self) -> Outcome<Vec<u64>> {
        let mut done: BTreeSet<u64> = BTreeSet::new();
        let mut order = Vec::new();
        while order.len() < self.nodes.len() {
            let ready = |(handle, node): &(&u64, &Node)| {
                let known =
                    |before: &u64| done.contains(before) || !self.nodes.contains_key(before);
                !done.contains(*handle) && node.after.iter().all(known)
            };
            let Some((&next, _)) = self.nodes.iter().find(ready) else {
                return Err(Code::INVALID_VALUE);
            };
            done.insert(next);
            order.push(next);
        }
        Ok(order)
    }
}

/// A stream that writes down what it is asked to do, with those that have joined it.
#[derive(Debug)]
pub struct Capture {
    /// The stream that began.
    pub origin: u64,
    /// It and those that wait for its events.
    pub streams: BTreeSet<u64>,
    /// Events that were recorded in it.
    pub events: BTreeSet<u64>,
    /// What was asked.
    pub graph: Graph,
    last: Option<u64>,
}

impl Capture {
    /// One that begins with a stream.
    pub fn of(origin: u64) -> Self {
        Self {
            origin,
            streams: BTreeSet::from([origin]),
            events: BTreeSet::new(),
            graph: Graph::default(),
            last: None,
        }
    }

    /// Writes down what is asked, behind what was asked last.
    pub fn push(&mut self, handle: u64, op: Op) {
        let after = self.last.into_iter().collect();
        self.graph.nodes.insert(handle, Node { op, after });
        self.last = Some(handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stand_behind_those_that_they_wait_for() {
        let node = |after: &[u64]| Node {
            op: Op::Nothing,
            after: after.to_vec(),
        };
        let mut graph = Graph::default();
        graph
            .nodes
            .extend([(1, node(&[3])), (2, node(&[])), (3, node(&[2]))]);
        assert_eq!(graph.order(), Ok(vec![2, 3, 1]));
        graph.nodes.insert(2, node(&[1]));
        assert_eq!(graph.order(), Err(Code::INVALID_VALUE));
    }

    #[test]
    fn rows_beyond_all_addresses_are_refused() {
        let side = Side {
            address: u64::MAX - 4,
            pitch: u64::MAX,
            plane: 1,
        };
        assert_eq!(side.row(0, 4), Ok(u64::MAX));
        assert_eq!(side.row(2, 0), Err(Code::INVALID_VALUE));
        assert_eq!(side.row(1, 1), Err(Code::INVALID_VALUE));
    }
}
