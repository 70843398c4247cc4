//! Error codes of CUDA's runtime, with their names and what they say of themselves.

use std::ffi::CString;
use std::sync::LazyLock;

use warpwatt_simt::{Cause, ExecError};

/// An error code; zero is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub i32);

/// What an entry point comes to.
pub type Outcome<T = ()> = Result<T, Code>;

/// Names and values as in the runtime's documentation.
impl Code {
    /// `cudaSuccess`.
    pub const SUCCESS: Self = Self(0);
    /// `cudaErrorInvalidValue`.
    pub const INVALID_VALUE: Self = Self(1);
    /// `cudaErrorMemoryAllocation`.
    pub const MEMORY_ALLOCATION: Self = Self(2);
    /// `cudaErrorInvalidConfiguration`.
    pub const INVALID_CONFIGURATION: Self = Self(9);
    /// `cudaErrorInvalidPitchValue`.
    pub const INVALID_PITCH: Self = Self(12);
    /// `cudaErrorInvalidSymbol`.
    pub const INVALID_SYMBOL: Self = Self(13);
    /// `cudaErrorInvalidTexture`.
    pub const INVALID_TEXTURE: Self = Self(18);
    /// `cudaErrorInvalidChannelDescriptor`.
    pub const INVALID_CHANNEL: Self = Self(20);
    /// `cudaErrorInvalidMemcpyDirection`.
    pub const INVALID_DIRECTION: Self = Self(21);
    /// `cudaErrorMissingConfiguration`.
    pub const MISSING_CONFIGURATION: Self = Self(52);
    /// `cudaErrorInvalidDeviceFunction`.
    pub const INVALID_FUNCTION: Self = Self(98);
    /// `cudaErrorInvalidDevice`.
    pub const INVALID_DEVICE: Self = Self(101);
    /// `cudaErrorInvalidKernelImage`.
    pub const INVALID_IMAGE: Self = Self(200);
    /// `cudaErrorNoKernelImageForDevice`.
    pub const NO_IMAGE: Self = Self(209);
    /// `cudaErrorPeerAccessUnsupported`.
    pub const NO_PEERS: Self = Self(217);
    /// `cudaErrorInvalidPtx`.
    pub const INVALID_PTX: Self = Self(218);
    /// `cudaErrorFileNotFound`.
    pub const FILE_NOT_FOUND: Self = Self(301);
    /// `cudaErrorInvalidResourceHandle`.
    pub const INVALID_HANDLE: Self = Self(400);
    /// `cudaErrorSymbolNotFound`.
    pub const SYMBOL_NOT_FOUND: Self = Self(500);
    /// `cudaErrorNotReady`.
    pub const NOT_READY: Self = Self(600);
    /// `cudaErrorIllegalAddress`.
    pub const ILLEGAL_ADDRESS: Self = Self(700);
    /// `cudaErrorLaunchOutOfResources`.
    pub const OUT_OF_RESOURCES: Self = Self(701);
    /// `cudaErrorLaunchTimeout`.
    pub const TIMEOUT: Self = Self(702);
    /// `cudaErrorAssert`.
    pub const ASSERT: Self = Self(710);
    /// `cudaErrorHostMemoryAlreadyRegistered`.
    pub const ALREADY_REGISTERED: Self = Self(712);
    /// `cudaErrorHostMemoryNotRegistered`.
    pub const NOT_REGISTERED: Self = Self(713);
    /// `cudaErrorHardwareStackError`.
    pub const STACK: Self = Self(714);
    /// `cudaErrorIllegalInstruction`.
    pub const ILLEGAL_INSTRUCTION: Self = Self(715);
    /// `cudaErrorMisalignedAddress`.
    pub const MISALIGNED: Self = Self(716);
    /// `cudaErrorInvalidPc`.
    pub const INVALID_PC: Self = Self(718);
    /// `cudaErrorLaunchFailure`.
    pub const LAUNCH_FAILURE: Self = Self(719);
    /// `cudaErrorCooperativeLaunchTooLarge`.
    pub const COOPERATIVE_TOO_LARGE: Self = Self(720);
    /// `cudaErrorNotSupported`.
    pub const NOT_SUPPORTED: Self = Self(801);
    /// `cudaErrorStreamCaptureUnsupported`.
    pub const CAPTURE_UNSUPPORTED: Self = Self(900);
    /// `cudaErrorStreamCaptureUnmatched`.
    pub const CAPTURE_UNMATCHED: Self = Self(903);
    /// `cudaErrorInvalidClusterSize`.
    pub const INVALID_CLUSTER: Self = Self(912);
    /// `cudaErrorUnknown`.
    pub const UNKNOWN: Self = Self(999);
}

/// A code with its name and its sentence, as C reads them.
struct Described {
    code: i32,
    name: CString,
    text: CString,
}

/// All of them, by code.
static ALL: LazyLock<Vec<Described>> = LazyLock::new(|| {
    let row = |line: &str| {
        let mut cells = line.splitn(3, '\t');
        Some(Described {
            code: cells.next()?.parse().ok()?,
            name: CString::new(cells.next()?).ok()?,
            text: CString::new(cells.next()?).ok()?,
        })
    };
    include_str!("../data/errors.tsv")
        .lines()
        .filter_map(row)
        .collect()
});

/// What the runtime says of a code that it does not know.
const UNRECOGNISED: &std::ffi::CStr = c"unrecognized error code";

impl Code {
    fn described(self) -> Option<&'static Described> {
        let at = ALL.binary_search_by_key(&self.0, |known| known.code);
        Some(&ALL[at.ok()?])
    }

    /// Its name, such as `cudaErrorInvalidValue`.
    pub fn name(self) -> &'static std::ffi::CStr {
        self.described().map_or(UNRECOGNISED, |known| &known.name)
    }

    /// What it says, such as `invalid argument`.
    pub fn text(self) -> &'static std::ffi::CStr {
        self.described().map_or(UNRECOGNISED, |known| &known.text)
    }

    /// The code of a launch that stopped, as a GPU would answer.
    pub fn of(error: &ExecError) -> Self {
        match error {
            ExecError::UnknownEntry { .. } => Self::INVALID_FUNCTION,
            ExecError::Unsupported { .. } => Self::NOT_SUPPORTED,
            ExecError::Launch { .. } => Self::INVALID_CONFIGURATION,
            ExecError::Limit { .. } => Self::TIMEOUT,
            ExecError::Store { .. } => Self::MEMORY_ALLOCATION,
            ExecError::Fault(fault) => Self::of_cause(&fault.cause),
        }
    }

    fn of_cause(cause: &Cause) -> Self {
        match cause {
            Cause::OutOfBounds { .. } | Cause::ReadOnly { .. } | Cause::OutsideSurface { .. } => {
                Self::ILLEGAL_ADDRESS
            }
            Cause::Misaligned { .. } => Self::MISALIGNED,
            Cause::StackOverflow { .. } => Self::STACK,
            Cause::CallTarget(_) | Cause::BranchIndex(_) | Cause::BeyondCode => Self::INVALID_PC,
            Cause::Assertion(_) => Self::ASSERT,
            Cause::BadFormat(_) => Self::ILLEGAL_ADDRESS,
            Cause::BarrierNumber(_) => Self::ILLEGAL_INSTRUCTION,
            Cause::Limit(_)
            | Cause::NoProgress(_)
            | Cause::Hang { .. }
            | Cause::Deadlock { .. } => Self::TIMEOUT,
            _ => Self::LAUNCH_FAILURE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_and_sentences_of_the_runtime() {
        assert_eq!(Code(0).text(), c"no error");
        assert_eq!(Code::ILLEGAL_ADDRESS.name(), c"cudaErrorIllegalAddress");
        assert_eq!(Code(12345).name(), UNRECOGNISED);
        assert!(ALL.is_sorted_by_key(|known| known.code) && ALL.len() > 100);
    }
}
