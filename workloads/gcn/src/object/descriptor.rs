//! The kernel descriptor: 64 bytes that a dispatcher reads.

/// What a kernel needs at its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Local data share of a work-group.
    pub lds_bytes: u32,
    /// Scratch of a work-item.
    pub scratch_bytes: u32,
    /// Arguments.
    pub argument_bytes: u32,
    /// From the descriptor to the first instruction.
    pub entry_offset: i64,
    /// First word of resources.
    pub resources1: u32,
    /// Second word of resources.
    pub resources2: u32,
    /// Which values lie in user registers.
    pub properties: u16,
}

/// Values that a dispatcher may put into user registers, in their order, with the registers that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserValue {
    /// Buffer resource of the scratch memory.
    ScratchBuffer,
    /// Address of the dispatch packet.
    DispatchPacket,
    /// Address of the queue.
    Queue,
    /// Address of the arguments.
    Arguments,
    /// Number of the dispatch.
    DispatchNumber,
    /// Flat scratch, which Southern Islands does not have.
    FlatScratch,
    /// Scratch bytes of a work-item.
    ScratchBytes,
}

const USER_VALUES: [(UserValue, u32); 7] = [
    (UserValue::ScratchBuffer, 4),
    (UserValue::DispatchPacket, 2),
    (UserValue::Queue, 2),
    (UserValue::Arguments, 2),
    (UserValue::DispatchNumber, 2),
    (UserValue::FlatScratch, 2),
    (UserValue::ScratchBytes, 1),
];

impl Descriptor {
    pub(super) fn new(bytes: &[u8; 64]) -> Self {
        let field = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            lds_bytes: field(0),
            scratch_bytes: field(4),
            argument_bytes: field(8),
            entry_offset: (u64::from(field(20)) << 32 | u64::from(field(16))) as i64,
            resources1: field(48),
            resources2: field(52),
            properties: u16::from_le_bytes([bytes[56], bytes[57]]),
        }
    }

    /// Vector registers of a wavefront's lane.
    pub fn vector_registers(&self) -> u32 {
        ((self.resources1 & 0x3f) + 1) * 4
    }

    /// Scalar registers of a wavefront.
    pub fn scalar_registers(&self) -> u32 {
        ((self.resources1 >> 6 & 0xf) + 1) * 8
    }

    /// Rounding and denormals, as the mode register holds them.
    pub fn float_mode(&self) -> u8 {
        (self.resources1 >> 12) as u8
    }

    /// Whether a clamp turns a NaN into zero.
    pub fn clamps_nan(&self) -> bool {
        self.resources1 >> 21 & 1 != 0
    }

    /// Whether minimum and maximum quiet signalling NaN.
    pub fn ieee(&self) -> bool {
        self.resources1 >> 23 & 1 != 0
    }

    /// Whether a wavefront is told where its scratch begins.
    pub fn wants_scratch_offset(&self) -> bool {
        self.resources2 & 1 != 0
    }

    /// User registers.
    pub fn user_registers(&self) -> u32 {
        self.resources2 >> 1 & 0x1f
    }

    /// Which work-group numbers a wavefront is told.
    pub fn group_ids(&self) -> [bool; 3] {
        [7, 8, 9].map(|bit| self.resources2 >> bit & 1 != 0)
    }

    /// Whether a wavefront is told facts of its work-group.
    pub fn wants_group_info(&self) -> bool {
        self.resources2 >> 10 & 1 != 0
    }

    /// Local ids that lie in vector registers: x; x and y; all.
    pub fn local_ids(&self) -> u32 {
        (self.resources2 >> 11 & 3) + 1
    }

    /// What lies in the user registers, from s0 on, with the registers that it takes.
    pub fn user_values(&self) -> impl Iterator<Item = (UserValue, u32)> {
        let properties = self.properties;
        let values = USER_VALUES.into_iter().enumerate();
        values
            .filter(move |(bit, _)| properties >> bit & 1 != 0)
            .map(|(_, value)| value)
    }
}
