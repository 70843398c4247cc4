//! PTX fundamental types and state spaces (PTX ISA 8.x, sections 5.1 and 5.2).

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Pred,
}

impl Type {
    /// Reads a type's name without its dot.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "f16" => Type::F16,
            "f16x2" => Type::F16x2,
            "bf16" => Type::Bf16,
            "bf16x2" => Type::Bf16x2,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "pred" => Type::Pred,
            _ => return None,
        })
    }

    /// Size in memory; a predicate has none.
    pub fn bytes(self) -> u32 {
        match self {
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::Pred => 0,
        }
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.is_half() || matches!(self, Type::F32 | Type::F64)
    }

    /// Whether it is a floating-point type of 16 bits, or a pair of such.
    pub fn is_half(self) -> bool {
        matches!(self, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory.
    Global,
    /// Scratch memory of a CTA.
    Shared,
    /// Memory of a thread.
    Local,
    /// Read-only module variables.
    Const,
    /// Kernel parameters.
    Param,
    /// Any of the others, decided by address.
    Generic,
}

impl Space {
    /// Bytes of a space's window in the generic address space: 16 MiB.
    pub const WINDOW: u64 = 1 << 24;

    /// Bytes between the shared memories of a cluster's CTAs, where one is reached from another: in the window of shared memory the own one lies first, under the
    /// addresses that `shared::cta` has; behind it lie those of all CTAs by rank.
    pub const PEER: u64 = 1 << 19;

    /// The spaces that have a window.
    const WINDOWED: [Space; 4] = [Space::Shared, Space::Local, Space::Param, Space::Const];

    /// First generic address of this space.
    pub fn window_base(self) -> u64 {
        match self {
            Space::Shared => 0x0100_0000,
            Space::Local => 0x0200_0000,
            Space::Param => 0x0300_0000,
            Space::Const => 0x0400_0000,
            Space::Global | Space::Generic => 0,
        }
    }

    /// The space that a generic address lies in: a window, or else global memory.
    pub fn of(address: u64) -> Self {
        Self::WINDOWED
            .into_iter()
            .find(|space| {
                (space.window_base()..space.window_base() + Self::WINDOW).contains(&address)
            })
            .unwrap_or(Space::Global)
    }
}
