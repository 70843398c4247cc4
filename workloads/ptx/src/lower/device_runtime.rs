//! Launches of kernels by kernels: what the functions of CUDA's device runtime do that compilers call (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").

use super::function::{Lowered, Lowering};
use crate::ast::Operand;
use crate::error::PtxError;
use crate::program::{Access, Op, Operands, RuntimeCall, Slot, SlotKind};
use crate::types::{Space, Type};

/// How today's runtime calls its functions, and how the one before CUDA 12 does.
const PREFIXES: [&str; 2] = ["__cudaCDP2", "cuda"];

/// What makes something that is waited for: nothing is, since launches run in their order.
const MAKERS: [&str; 2] = ["StreamCreateWithFlags", "EventCreateWithFlags"];

/// What always succeeds, and tells nothing.
const SUCCEED: [&str; 7] = [
    "GetLastError",
    "PeekAtLastError",
    "StreamDestroy",
    "StreamWaitEvent",
    "EventRecord",
    "EventRecordWithFlags",
    "EventDestroy",
];

impl<'s> Lowering<'_, 's> {
    /// A call of the device runtime; whether the name is one of its.
    pub(super) fn device_runtime(
        &mut self,
        name: &str,
        results: &[Operand<'s>],
        arguments: &[Operand<'s>],
    ) -> Lowered<bool> {
        let plain = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
        match (plain, arguments) {
            (Some("GetParameterBufferV2"), [function, grid, block, shared]) => {
                let room = self.prepare([function, grid, block, shared])?;
                self.returned(results, room, Type::B64)?;
            }
            (Some("LaunchDeviceV2"), [room, stream]) => {
                let src = [room, stream].map(|argument| self.argument(argument, Type::B64, 0));
                let [room, stream] = src;
                self.launch([room?, stream?].into_iter().collect(), results)?;
            }
            (Some("GetParameterBuffer"), [_, size]) => {
                let bytes = self.argument(size, Type::B64, 0)?;
                let address = self.slots.fresh(SlotKind::Double);
                let allocate = Op::Runtime(RuntimeCall::Allocate);
                self.emit(allocate, address.into(), bytes.into());
                self.returned(results, address, Type::B64)?;
            }
            (Some("LaunchDevice"), [function, from, grid, block, shared, stream]) => {
                let room = self.prepare([function, grid, block, shared])?;
                let stream = self.argument(stream, Type::B64, 0)?;
                let from = self.argument(from, Type::B64, 0)?;
                self.launch([room, stream, from].into_iter().collect(), results)?;
            }
            (Some("DeviceSynchronize"), [..]) => {
                let span = results.first().map_or(0..0, Operand::span);
                let message = "a kernel cannot wait for kernels that it launches";
                return Err(PtxError::new(span, message).with_help(
                    "since CUDA 12 kernels cannot do it on GPUs either: launch what comes after it to `cudaStreamTailLaunch`",
                ));
            }
            (Some(plain), _) if SUCCEED.contains(&plain) => self.succeed(results)?,
            (Some(plain), [place, _]) if MAKERS.contains(&plain) => {
                let place = self.argument(place, Type::B64, 0)?;
                let access = Access::of(Space::Generic, Type::B64);
                let handle = self.slots.double_literal(HANDLE);
                let src = [place, handle].into_iter().collect();
                self.emit(Op::Store(access), Operands::default(), src);
                self.succeed(results)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Room for the parameters of a kernel that is to be launched.
    fn prepare(&mut self, [function, grid, block, shared]: [&Operand<'s>; 4]) -> Lowered<Slot> {
        let mut src = Operands::default();
        src.push(self.argument(function, Type::B64, 0)?);
        for extents in [grid, block] {
            for axis in 0..3 {
                src.push(self.argument(extents, Type::B32, 4 * axis)?);
            }
        }
        src.push(self.argument(shared, Type::B32, 0)?);
        let room = self.slots.fresh(SlotKind::Double);
        self.emit(Op::Runtime(RuntimeCall::Prepare), room.into(), src);
        Ok(room)
    }

    fn launch(&mut self, src: Operands<8>, results: &[Operand<'s>]) -> Lowered<()> {
        let error = self.slots.fresh(SlotKind::Word);
        self.emit(Op::Runtime(RuntimeCall::Launch), error.into(), src);
        self.returned(results, error, Type::B32)
    }

    fn succeed(&mut self, results: &[Operand<'s>]) -> Lowered<()> {
        let success = self.slots.word_literal(0);
        self.returned(results, success, Type::B32)
    }

    /// What lies at a distance from the beginning of an argument, in a register.
    pub(super) fn argument(
        &mut self,
        argument: &Operand<'s>,
        element: Type,
        offset: i64,
    ) -> Lowered<Slot> {
        let (place, access) = self.passed(argument, element)?;
        let kind = match element {
            Type::B64 => SlotKind::Double,
            _ => SlotKind::Word,
        };
        let value = self.slots.fresh(kind);
        let access = Access { offset, ..access };
        self.emit(Op::Load(access), value.into(), place.into());
        Ok(value)
    }

    /// A call returns a value.
    pub(super) fn returned(
        &mut self,
        results: &[Operand<'s>],
        value: Slot,
        element: Type,
    ) -> Lowered<()> {
        for result in results {
            let (place, access) = self.passed(result, element)?;
            let src = [place, value].into_iter().collect();
            self.emit(Op::Store(access), Operands::default(), src);
        }
        Ok(())
    }
}

/// Any stream or event: never a null one.
const HANDLE: u64 = 0x100;
