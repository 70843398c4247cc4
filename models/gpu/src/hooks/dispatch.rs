//! Which CTAs an SM takes, where a technique decides that.

use warpwatt_simt::trace::KernelTrace;

/// Makes the dispatcher of a run.
pub type DispatcherFactory = Box<dyn Fn() -> Box<dyn Dispatcher>>;

/// Decides which CTA of a launch goes where.
///
/// Contract: [`begin`](Self::begin) is called once a launch. Then every SM asks for a CTA as often as it may have room, and again whenever a CTA has finished anywhere; an SM that is
/// given one either takes it, which [`placed`](Self::placed) says, or has no room, and it is still to be given. Every CTA must be given in the end.
pub trait Dispatcher {
    /// A launch begins, on so many SMs.
    fn begin(&mut self, trace: &KernelTrace, sms: u32);
    /// The CTA that an SM would take; none if there is none for it now.
    fn next(&mut self, sm: u32) -> Option<usize>;
    /// The SM took it.
    fn placed(&mut self, sm: u32, cta: usize);
    /// A CTA of the SM has finished.
    fn finished(&mut self, sm: u32);
}
