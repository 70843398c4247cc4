//! Variables of modules, by their shadows on the host.

use super::entries;
use crate::error::{Code, Outcome};
use crate::foreign::{Out, copy};
use crate::gpu::Gpu;
use crate::protocol::Way;
use crate::registry::Place;

fn found(gpu: &mut Gpu, symbol: u64) -> Outcome<Place> {
    let unit = gpu.registry.unit_of(symbol)?;
    gpu.load(unit)?;
    gpu.registry.variable(symbol, &mut gpu.memory)
}

/// Where `bytes` bytes of a variable lie in this process, from `offset` on.
fn part(gpu: &mut Gpu, symbol: u64, bytes: u64, offset: u64) -> Outcome<*mut u8> {
    let place = found(gpu, symbol)?;
    let end = offset.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
    if end > place.bytes {
        return Err(Code::INVALID_VALUE);
    }
    Ok(place.host.wrapping_add(offset as usize))
}

fn to_symbol(gpu: &mut Gpu, symbol: u64, from: u64, bytes: u64, offset: u64) -> Outcome {
    let to = part(gpu, symbol, bytes, offset)?;
    let from = gpu.memory.place(from, bytes)?;
    copy(to, from, bytes as usize);
    gpu.tell_copy(Way::ToDevice, bytes);
    Ok(())
}

fn from_symbol(gpu: &mut Gpu, to: u64, symbol: u64, bytes: u64, offset: u64) -> Outcome {
    let from = part(gpu, symbol, bytes, offset)?;
    let to = gpu.memory.place(to, bytes)?;
    copy(to, from, bytes as usize);
    gpu.tell_copy(Way::ToHost, bytes);
    Ok(())
}

entries! {
    cudaMemcpyToSymbol | cudaMemcpyToSymbol_ptds:
        (symbol: u64, from: u64, bytes: u64, offset: u64, _kind: i32) |gpu| to_symbol(gpu, symbol, from, bytes, offset);
    cudaMemcpyToSymbolAsync: (symbol: u64, from: u64, bytes: u64, offset: u64, _kind: i32, stream: u64) |gpu| {
        gpu.check_stream(stream)?;
        to_symbol(gpu, symbol, from, bytes, offset)
    };
    cudaMemcpyFromSymbol | cudaMemcpyFromSymbol_ptds:
        (to: u64, symbol: u64, bytes: u64, offset: u64, _kind: i32) |gpu| from_symbol(gpu, to, symbol, bytes, offset);
    cudaMemcpyFromSymbolAsync: (to: u64, symbol: u64, bytes: u64, offset: u64, _kind: i32, stream: u64) |gpu| {
        gpu.check_stream(stream)?;
        from_symbol(gpu, to, symbol, bytes, offset)
    };
    cudaGetSymbolAddress: (to: Out<u64>, symbol: u64) |gpu| {
        // Constants lie where only kernels reach them.
        let address = found(gpu, symbol)?.device.ok_or(Code::INVALID_SYMBOL)?;
        to.put(address)
    };
    cudaGetSymbolSize: (to: Out<u64>, symbol: u64) |gpu| {
        let bytes = found(gpu, symbol)?.bytes;
        to.put(bytes)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_symbols_are_refused() {
        let mut host = 0u64;
        let host = &raw mut host as u64;
        assert_eq!(
            Code(cudaMemcpyToSymbol(0, host, 8, 0, 1)),
            Code::INVALID_SYMBOL
        );
        assert_eq!(
            Code(cudaGetSymbolSize(Out::at_address(host), 5)),
            Code::INVALID_SYMBOL
        );
    }
}
