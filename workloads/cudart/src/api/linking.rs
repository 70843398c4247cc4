//! The functions of the driver that link PTX, that load libraries, and that launch with attributes.

use warpwatt_ptx::link::link;

use super::driver::load;
use super::kernels::{Attribute, attributed, function_attribute, request};
use super::registration::any_image;
use super::{Dim3, driver_entries};
use crate::error::{Code, Outcome};
use crate::foreign::{Arguments, In, Out, Text, kept};
use crate::gpu::Gpu;
use crate::graph::Op;

/// What is added to a link: values of `CUjitInputType`.
const PTX: i32 = 1;
/// The device runtime, which is here whether it is linked or not.
const LIBRARY: i32 = 4;

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: u32,
    stream: u64,
    attributes: In<Attribute>,
    count: u32,
}

fn add(gpu: &mut Gpu, state: u64, kind: i32, bytes: Vec<u8>) -> Outcome {
    let texts = gpu.links.get_mut(&state).ok_or(Code::INVALID_HANDLE)?;
    match kind {
        PTX => {
            let text = String::from_utf8(bytes).map_err(|_| Code::INVALID_PTX)?;
            let text = text.trim_end_matches('\0');
            // What is passed on ends at the first zero.
            if text.contains('\0') {
                return Err(Code::INVALID_PTX);
            }
            texts.push(text.to_owned());
            Ok(())
        }
        LIBRARY => Ok(()),
        // Machine code, or what only NVIDIA's compilers read.
        _ => Err(Code::NO_IMAGE),
    }
}

/// One module of several, with what they call of the device runtime.
fn linked(texts: &[String]) -> String {
    /// Functions of the device runtime have names that begin so, where CTAs of a grid meet.
    const OF_GRIDS: &str = "cudaCG";
    let mut texts = texts.to_vec();
    if texts.iter().any(|text| text.contains(OF_GRIDS)) {
        texts.push(include_str!("../../data/grids.ptx").to_owned());
    }
    link(&texts)
}

fn launch(gpu: &mut Gpu, config: In<LaunchConfig>, kernel: u64, arguments: Arguments) -> Outcome {
    let config = config.get()?;
    let shape = (config.grid, config.block, u64::from(config.shared));
    let mut request = request(gpu, kernel, shape, arguments)?;
    attributed(&mut request, config.attributes, config.count)?;
    gpu.submit(config.stream, Op::Launch(request))
}

driver_entries! {
    cuLinkCreate_v2: (_count: u32, _options: u64, _values: u64, to: Out<u64>) |gpu| {
        let state = gpu.registry.handle();
        gpu.links.insert(state, Vec::new());
        to.put(state)
    };
    cuLinkAddData_v2: (state: u64, kind: i32, data: In<u8>, bytes: u64, _name: Text, _count: u32, _options: u64, _values: u64) |gpu|
        add(gpu, state, kind, data.list(bytes as usize)?);
    cuLinkAddFile_v2: (state: u64, kind: i32, path: Text, _count: u32, _options: u64, _values: u64) |gpu| {
        let bytes = std::fs::read(path.get()?).map_err(|_| Code::FILE_NOT_FOUND)?;
        add(gpu, state, kind, bytes)
    };
    cuLinkComplete: (state: u64, to: Out<u64>, bytes: Out<u64>) |gpu| {
        // What takes the place of machine code is the linked PTX, with the zero behind it.
        let text = linked(gpu.links.get(&state).ok_or(Code::INVALID_HANDLE)?);
        bytes.put(text.len() as u64 + 1)?;
        to.put(kept(&text))
    };
    cuLinkDestroy: (state: u64) |gpu| gpu.links.remove(&state).map(drop).ok_or(Code::INVALID_HANDLE);
    cuLibraryLoadData: (to: Out<u64>, code: In<u8>, _a: u64, _b: u64, _c: u32, _d: u64, _e: u64, _f: u32) |gpu|
        load(gpu, to, any_image(code.address())?);
    cuLibraryGetModule: (to: Out<u64>, unit: u64) |gpu| gpu.registry.read(unit).map(drop).and_then(|()| to.put(unit));
    cuKernelGetFunction: (to: Out<u64>, kernel: u64) |gpu| gpu.registry.kernel(kernel).and_then(|_| to.put(kernel));
    cuKernelGetAttribute: (to: Out<i32>, what: i32, kernel: u64, _device: i32) |gpu| {
        let value = function_attribute(gpu, kernel, what)?;
        to.put(value)
    };
    cuKernelSetAttribute: (_what: i32, _value: i32, kernel: u64, _device: i32) |gpu| gpu.registry.kernel(kernel).map(drop);
    cuFuncGetModule: (to: Out<u64>, kernel: u64) |gpu| {
        let unit = gpu.registry.kernel(kernel)?.unit;
        to.put(unit)
    };
    cuLaunchKernelEx: (config: In<LaunchConfig>, kernel: u64, arguments: Arguments, _extra: u64) |gpu| launch(gpu, config, kernel, arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<T>(value: &mut T) -> Out<T> {
        Out::at_address(std::ptr::from_mut(value) as u64)
    }

    fn text(text: &std::ffi::CStr) -> Text {
        Text::at_address(text.as_ptr() as u64)
    }

    const CALLER: &std::ffi::CStr = c".version 8.0\n.target sm_80\n.address_size 64\n\
        .extern .func (.param .b32 r) twice(.param .b32 a);\n\
        .extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);\n\
        .extern .func (.param .b32 s) cudaCGSynchronize(.param .b64 h, .param .b32 flags);\n\
        .visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<4>;\n .reg .b64 %rd<6>;\n .reg .pred %p1;\n\
        ld.param.u64 %rd1, [p];\n mov.u32 %r1, %ctaid.x;\n mul.wide.u32 %rd2, %r1, 4;\n add.s64 %rd3, %rd1, %rd2;\n add.u32 %r2, %r1, 5;\n\
        { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call.uni (r), twice, (a); ld.param.b32 %r2, [r]; }\n\
        st.global.u32 [%rd3], %r2;\n\
        { .param .b32 a; .param .b64 r; st.param.b32 [a], 1; call.uni (r), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %rd4, [r]; }\n\
        { .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %rd4; st.param.b32 [b], 0; call.uni (r), cudaCGSynchronize, (a, b); }\n\
        xor.b32 %r1, %r1, 1;\n mul.wide.u32 %rd2, %r1, 4;\n add.s64 %rd3, %rd1, %rd2;\n ld.volatile.global.u32 %r3, [%rd3];\n\
        mov.u32 %r1, %ctaid.x;\n mul.wide.u32 %rd2, %r1, 4;\n add.s64 %rd3, %rd1, %rd2;\n st.global.u32 [%rd3+8], %r3;\n ret;\n}\n";
    const CALLED: &std::ffi::CStr = c".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .func (.param .b32 r) twice(.param .b32 a)\n{\n .reg .b32 %r1;\n ld.param.b32 %r1, [a];\n\
        add.u32 %r1, %r1, %r1;\n st.param.b32 [r], %r1;\n ret;\n}\n";

    /// Two modules that a program links itself, whose CTAs meet half of the way: what each reads of the other was written before.
    #[test]
    fn modules_are_linked_and_a_grid_meets() {
        let (mut state, mut image, mut bytes) = (0u64, 0u64, 0u64);
        assert_eq!(cuLinkCreate_v2(0, 0, 0, at(&mut state)), 0);
        for module in [CALLER, CALLED] {
            let (data, size) = (module.as_ptr() as u64, module.to_bytes().len() as u64);
            let data = In::at_address(data);
            assert_eq!(
                cuLinkAddData_v2(state, PTX, data, size, text(c"m"), 0, 0, 0),
                0
            );
        }
        let machine_code = In::at_address(CALLED.as_ptr() as u64);
        let refused = cuLinkAddData_v2(state, 0, machine_code, 4, text(c"m"), 0, 0, 0);
        assert_eq!(Code(refused), Code::NO_IMAGE);
        assert_eq!(cuLinkComplete(state, at(&mut image), at(&mut bytes)), 0);
        assert_eq!(cuLinkDestroy(state), 0);
        assert_eq!(Code(cuLinkDestroy(state)), Code::INVALID_HANDLE);
        let (mut unit, mut kernel, mut function) = (0u64, 0u64, 0u64);
        let code = In::at_address(image);
        assert_eq!(cuLibraryLoadData(at(&mut unit), code, 0, 0, 0, 0, 0, 0), 0);
        assert_eq!(
            crate::api::driver::cuLibraryGetKernel(at(&mut kernel), unit, text(c"k")),
            0
        );
        assert_eq!(cuKernelGetFunction(at(&mut function), kernel), 0);
        let mut memory = 0u64;
        assert_eq!(crate::api::driver::cuMemAlloc_v2(at(&mut memory), 16), 0);
        let list = [&raw mut memory as u64];
        let config = LaunchConfig {
            grid: Dim3 { x: 2, y: 1, z: 1 },
            block: Dim3 { x: 32, y: 1, z: 1 },
            shared: 0,
            stream: 0,
            attributes: In::at_address(0),
            count: 0,
        };
        let cooperative = Attribute::cooperative();
        let config = LaunchConfig {
            attributes: In::at_address(&raw const cooperative as u64),
            count: 1,
            ..config
        };
        let arguments = Arguments::at_address(list.as_ptr() as u64);
        let config = In::at_address(&raw const config as u64);
        assert_eq!(cuLaunchKernelEx(config, function, arguments, 0), 0);
        let mut back = [0u32; 4];
        let to = back.as_mut_ptr() as u64;
        assert_eq!(crate::api::driver::cuMemcpyDtoH_v2(to, memory, 16), 0);
        assert_eq!(back, [10, 12, 12, 10]);
    }
}
