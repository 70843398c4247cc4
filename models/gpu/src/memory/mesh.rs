//! A mesh between the ports of SMs and the slices: routes and the contention of its links.
//!
//! Packets go along their row and then along their column (dimension-order routing: Dally and Towles, "Principles and Practices of Interconnection Networks",
//! 2004, section 8.4). Each link is a queue served in order; buffers in the routers have no end.

use crate::GpuSpec;

/// Directions of the links that leave a node.
const EAST: usize = 0;
const WEST: usize = 1;
const SOUTH: usize = 2;
const NORTH: usize = 3;
const LINKS: usize = 4;

/// A mesh as square as can be; the nodes of slices are spread evenly among those of ports.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    width: usize,
    ports: Vec<usize>,
    slices: Vec<usize>,
    /// The edge from which each link is free, a direction of the network after the other.
    free: Vec<u64>,
    /// Cycles of a router and a link.
    hop: u64,
}

impl Mesh {
    pub fn new(spec: &GpuSpec) -> Self {
        let (ports, slices) = (spec.noc_ports() as usize, spec.slices() as usize);
        let nodes = ports + slices;
        let width = (1..=nodes)
            .find(|width| width * width >= nodes)
            .unwrap_or(1);
        let of_slices: Vec<usize> = (0..slices)
            .map(|slice| (2 * slice + 1) * nodes / (2 * slices))
            .collect();
        Self {
            width,
            ports: (0..nodes)
                .filter(|node| !of_slices.contains(node))
                .collect(),
            slices: of_slices,
            free: vec![0; width * width * LINKS],
            hop: u64::from(spec.noc.latency),
        }
    }

    /// The same mesh for the other way.
    pub fn reversed(&self) -> Self {
        Self {
            ports: self.slices.clone(),
            slices: self.ports.clone(),
            ..self.clone()
        }
    }

    /// A packet of `flits` flits leaves an input at an edge: the edge at which its last flit is at the node of its output.
    pub fn travel(&mut self, input: usize, output: usize, flits: u64, edge: u64) -> u64 {
        let (mut node, end) = (self.ports[input], self.slices[output]);
        let mut at = edge;
        while node != end {
            let (link, next) = self.step(node, end);
            let free = &mut self.free[node * LINKS + link];
            let start = at.max(*free);
            *free = start + flits;
            at = start + self.hop;
            node = next;
        }
        at + flits
    }

    /// The link towards `end` along the row first, and the node behind it.
    fn step(&self, node: usize, end: usize) -> (usize, usize) {
        let (column, goal) = (node % self.width, end % self.width);
        if column < goal {
            (EAST, node + 1)
        } else if column > goal {
            (WEST, node - 1)
        } else if node < end {
            (SOUTH, node + self.width)
        } else {
            (NORTH, node - self.width)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 28 SMs and 8 controllers fill six by six nodes.
    fn mesh() -> Mesh {
        let mut spec = GpuSpec::preset("softerror-28sm").unwrap();
        spec.noc.latency = 3;
        Mesh::new(&spec)
    }

    #[test]
    fn every_node_has_one_port_or_one_slice() {
        let mesh = mesh();
        let mut nodes = [mesh.ports.clone(), mesh.slices.clone()].concat();
        nodes.sort_unstable();
        assert_eq!(nodes, (0..36).collect::<Vec<_>>());
        assert_eq!(mesh.width, 6);
    }

    #[test]
    fn an_empty_mesh_takes_its_hops() {
        let mesh = mesh();
        for (input, from) in mesh.ports.iter().enumerate() {
            for (output, to) in mesh.slices.iter().enumerate() {
                let hops = (from % 6).abs_diff(to % 6) + (from / 6).abs_diff(to / 6);
                let arrival = mesh.clone().travel(input, output, 2, 100);
                assert_eq!(arrival, 100 + 3 * hops as u64 + 2);
            }
        }
    }

    /// Two packets from neighbouring ports of a row to one slice share the last link.
    #[test]
    fn packets_on_one_link_go_one_after_the_other() {
        let mut mesh = mesh();
        let output = 3;
        let row = mesh.slices[output] / 6;
        let inputs: Vec<usize> = (0..mesh.ports.len())
            .filter(|&input| {
                mesh.ports[input] / 6 == row && mesh.ports[input] < mesh.slices[output]
            })
            .collect();
        let [.., far, near] = inputs[..] else {
            panic!("no two ports west of the slice");
        };
        let alone = mesh.clone().travel(near, output, 4, 100);
        mesh.travel(
            far,
            output,
            4,
            100 - 3 * (mesh.ports[near] - mesh.ports[far]) as u64,
        );
        assert_eq!(mesh.travel(near, output, 4, 100), alone + 4);
    }
}
