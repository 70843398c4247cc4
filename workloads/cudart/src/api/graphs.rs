//! Graphs. A graph that can be launched is a copy of the one that it was made of.

use super::copies::Copy3D;
use super::kernels::request;
use super::{Dim3, entries, nothing_to_do};
use crate::error::{Code, Outcome};
use crate::foreign::{Arguments, Callback, In, Out};
use crate::gpu::Gpu;
use crate::graph::{Copying, Filling, Graph, Node, Op, Side};

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelParams {
    kernel: u64,
    grid: Dim3,
    block: Dim3,
    shared: u32,
    arguments: Arguments,
    extra: u64,
}

/// `cudaMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemsetParams {
    to: u64,
    pitch: u64,
    value: u32,
    size: u32,
    width: u64,
    height: u64,
}

/// `cudaHostNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostParams {
    function: Option<extern "C" fn(u64)>,
    data: u64,
}

/// Where `cudaMemAllocNodeParams` has the size, and where it wants the address.
const ALLOCATED_BYTES: u64 = 104;
const ALLOCATED: u64 = 112;

impl KernelParams {
    fn op(&self, gpu: &mut Gpu) -> Outcome<Op> {
        let shape = (self.grid, self.block, u64::from(self.shared));
        request(gpu, self.kernel, shape, self.arguments).map(Op::Launch)
    }
}

impl MemsetParams {
    fn op(&self) -> Outcome<Op> {
        let width = self.width.checked_mul(u64::from(self.size));
        Ok(Op::Fill(Filling {
            to: Side::rows(self.to, self.pitch),
            extent: [width.ok_or(Code::INVALID_VALUE)?, self.height, 1],
            value: self.value,
            size: self.size,
        }))
    }
}

impl HostParams {
    fn op(&self) -> Outcome<Op> {
        let function = self.function.ok_or(Code::INVALID_VALUE)?;
        Ok(Op::Call(Callback::Plain(function, self.data)))
    }
}

fn graph(gpu: &mut Gpu, handle: u64) -> Outcome<&mut Graph> {
    gpu.graphs.get_mut(&handle).ok_or(Code::INVALID_HANDLE)
}

/// Adds a node behind others.
fn add(gpu: &mut Gpu, to: Out<u64>, place: (u64, In<u64>, u64), op: Op) -> Outcome {
    let (handle, after, count) = place;
    let node = Node {
        op,
        after: after.list(count as usize)?,
    };
    let number = gpu.registry.handle();
    graph(gpu, handle)?.nodes.insert(number, node);
    to.put(number)
}

/// Changes what a node does.
fn set(gpu: &mut Gpu, handle: u64, node: u64, op: Op) -> Outcome {
    let nodes = &mut graph(gpu, handle)?.nodes;
    nodes.get_mut(&node).ok_or(Code::INVALID_HANDLE)?.op = op;
    Ok(())
}

/// The same of the graph that has the node.
fn set_anywhere(gpu: &mut Gpu, node: u64, op: &Op) -> Outcome {
    let nodes = gpu
        .graphs
        .values_mut()
        .filter_map(|graph| graph.nodes.get_mut(&node));
    let mut found = false;
    nodes.for_each(|node| {
        node.op = op.clone();
        found = true;
    });
    found.then_some(()).ok_or(Code::INVALID_HANDLE)
}

fn instantiate(gpu: &mut Gpu, to: Out<u64>, handle: u64) -> Outcome {
    let copy = graph(gpu, handle)?.clone();
    copy.order()?;
    let handle = gpu.registry.handle();
    gpu.graphs.insert(handle, copy);
    to.put(handle)
}

fn destroy(gpu: &mut Gpu, handle: u64) -> Outcome {
    let known = gpu.graphs.remove(&handle);
    known.map(drop).ok_or(Code::INVALID_HANDLE)
}

/// Hands out handles of nodes: all if there is room, how many there are in any case.
fn tell(nodes: &[u64], to: Out<u64>, count: Out<u64>) -> Outcome {
    if !to.is_null() {
        let room = In::<u64>::at_address(count.address()).get()?;
        for (at, node) in nodes.iter().take(room as usize).enumerate() {
            to.put_at(at, *node)?;
        }
    }
    count.put(nodes.len() as u64)
}

entries! {
    cudaGraphCreate: (to: Out<u64>, _flags: u32) |gpu| {
        let handle = gpu.registry.handle();
        gpu.graphs.insert(handle, Graph::default());
        to.put(handle)
    };
    cudaGraphDestroy | cudaGraphExecDestroy: (handle: u64) |gpu| destroy(gpu, handle);
    cudaGraphClone: (to: Out<u64>, handle: u64) |gpu| instantiate(gpu, to, handle);
    cudaGraphInstantiate | cudaGraphInstantiateWithFlags: (to: Out<u64>, handle: u64, _flags: u64) |gpu| instantiate(gpu, to, handle);
    cudaGraphInstantiateWithParams: (to: Out<u64>, handle: u64, _how: u64) |gpu| instantiate(gpu, to, handle);
    cudaGraphLaunch | cudaGraphLaunch_ptsz: (handle: u64, stream: u64) |gpu| gpu.submit(stream, Op::Graph(handle));
    cudaGraphAddKernelNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, how: In<KernelParams>) |gpu| {
        let op = how.get()?.op(gpu)?;
        add(gpu, to, (handle, after, count), op)
    };
    cudaGraphAddMemsetNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, how: In<MemsetParams>) |gpu|
        add(gpu, to, (handle, after, count), how.get()?.op()?);
    cudaGraphAddHostNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, how: In<HostParams>) |gpu|
        add(gpu, to, (handle, after, count), how.get()?.op()?);
    cudaGraphAddMemcpyNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, how: In<Copy3D>) |gpu| {
        let op = Op::Copy(how.get()?.copying(gpu)?);
        add(gpu, to, (handle, after, count), op)
    };
    cudaGraphAddMemcpyNode1D: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, at: u64, from: u64, bytes: u64, kind: i32) |gpu|
        add(gpu, to, (handle, after, count), Op::Copy(Copying::plain(at, from, bytes, kind)));
    cudaGraphAddEmptyNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64) |gpu| add(gpu, to, (handle, after, count), Op::Nothing);
    cudaGraphAddEventRecordNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, event: u64) |gpu|
        add(gpu, to, (handle, after, count), Op::Record(event));
    cudaGraphAddEventWaitNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, _event: u64) |gpu|
        add(gpu, to, (handle, after, count), Op::Nothing);
    cudaGraphAddChildGraphNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, child: u64) |gpu| {
        // As it is now.
        let copy = graph(gpu, child)?.clone();
        let child = gpu.registry.handle();
        gpu.graphs.insert(child, copy);
        add(gpu, to, (handle, after, count), Op::Graph(child))
    };
    cudaGraphAddMemAllocNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, how: u64) |gpu| {
        if how == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let bytes = In::<u64>::at_address(how + ALLOCATED_BYTES).get()?;
        let address = gpu.memory.allocate_for_graph(bytes)?;
        Out::at_address(how + ALLOCATED).put(address)?;
        add(gpu, to, (handle, after, count), Op::Nothing)
    };
    // What a graph allocated stays, so that it finds it when it is launched again.
    cudaGraphAddMemFreeNode: (to: Out<u64>, handle: u64, after: In<u64>, count: u64, _address: u64) |gpu|
        add(gpu, to, (handle, after, count), Op::Nothing);
    cudaGraphAddDependencies: (handle: u64, from: In<u64>, until: In<u64>, count: u64) |gpu| {
        depend(gpu, handle, (from, until, count))
    };
    cudaGraphAddDependencies_v2: (handle: u64, from: In<u64>, until: In<u64>, _edges: u64, count: u64) |gpu| {
        depend(gpu, handle, (from, until, count))
    };
    cudaGraphGetNodes: (handle: u64, to: Out<u64>, count: Out<u64>) |gpu| {
        let nodes: Vec<u64> = graph(gpu, handle)?.nodes.keys().copied().collect();
        tell(&nodes, to, count)
    };
    cudaGraphGetRootNodes: (handle: u64, to: Out<u64>, count: Out<u64>) |gpu| {
        let nodes = graph(gpu, handle)?.nodes.iter();
        let roots: Vec<u64> = nodes.filter(|(_, node)| node.after.is_empty()).map(|(&node, _)| node).collect();
        tell(&roots, to, count)
    };
    cudaGraphNodeGetType: (node: u64, to: Out<i32>) |gpu| {
        let op = gpu.graphs.values().find_map(|graph| graph.nodes.get(&node));
        to.put(match op.ok_or(Code::INVALID_HANDLE)?.op {
            Op::Launch(_) => 0,
            Op::Copy(_) => 1,
            Op::Fill(_) => 2,
            Op::Call(_) => 3,
            Op::Graph(_) => 4,
            Op::Nothing => 5,
            Op::Record(_) => 7,
            Op::Free(_) => 11,
        })
    };
    cudaGraphKernelNodeSetParams: (node: u64, how: In<KernelParams>) |gpu| {
        let op = how.get()?.op(gpu)?;
        set_anywhere(gpu, node, &op)
    };
    cudaGraphMemsetNodeSetParams: (node: u64, how: In<MemsetParams>) |gpu| set_anywhere(gpu, node, &how.get()?.op()?);
    cudaGraphHostNodeSetParams: (node: u64, how: In<HostParams>) |gpu| set_anywhere(gpu, node, &how.get()?.op()?);
    cudaGraphExecKernelNodeSetParams: (handle: u64, node: u64, how: In<KernelParams>) |gpu| {
        let op = how.get()?.op(gpu)?;
        set(gpu, handle, node, op)
    };
    cudaGraphExecMemsetNodeSetParams: (handle: u64, node: u64, how: In<MemsetParams>) |gpu| set(gpu, handle, node, how.get()?.op()?);
    cudaGraphExecHostNodeSetParams: (handle: u64, node: u64, how: In<HostParams>) |gpu| set(gpu, handle, node, how.get()?.op()?);
    cudaGraphExecMemcpyNodeSetParams1D: (handle: u64, node: u64, at: u64, from: u64, bytes: u64, kind: i32) |gpu|
        set(gpu, handle, node, Op::Copy(Copying::plain(at, from, bytes, kind)));
    cudaGraphExecMemcpyNodeSetParams: (handle: u64, node: u64, how: In<Copy3D>) |gpu| {
        let op = Op::Copy(how.get()?.copying(gpu)?);
        set(gpu, handle, node, op)
    };
    cudaGraphExecUpdate: (handle: u64, from: u64, _result: u64) |gpu| {
        let new = graph(gpu, from)?.clone();
        let old = graph(gpu, handle)?;
        if old.nodes.len() != new.nodes.len() {
            return Err(Code(910));
        }
        *old = new;
        Ok(())
    };
}

/// Makes nodes wait for others, one by one.
fn depend(gpu: &mut Gpu, handle: u64, edges: (In<u64>, In<u64>, u64)) -> Outcome {
    let (from, until, count) = edges;
    for at in 0..count as usize {
        let (before, after) = (from.get_at(at)?, until.get_at(at)?);
        let nodes = &mut graph(gpu, handle)?.nodes;
        let node = nodes.get_mut(&after).ok_or(Code::INVALID_HANDLE)?;
        node.after.push(before);
    }
    Ok(())
}

nothing_to_do! {
    cudaGraphUpload cudaGraphUpload_ptsz cudaGraphDebugDotPrint cudaDeviceGraphMemTrim cudaGraphKernelNodeSetAttribute
    cudaGraphKernelNodeCopyAttributes
}
