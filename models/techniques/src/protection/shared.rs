//! Hooks that protect bits: one that is attached, and that the ledger of needed bits asks too.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{
    FetchEvent, FetchObserver, Hooks, IssueEvent, IssueHook, IssuePlan, PlaceEvent, SharedUse,
};
use warpwatt_reliability::{Cover, Protection, ProtectionFactory, Residency};

/// A hook of an SM that somebody else asks, too. It holds nothing back and executes nothing again: what it is asked for cannot be lent out of it.
struct Shared<H>(Rc<RefCell<H>>);

/// Gives for the number of an SM its hook, made when it is first asked for.
fn one_an_sm<H>(make: impl Fn(u32) -> H) -> impl Fn(u32) -> Shared<H> {
    let made: RefCell<BTreeMap<u32, Rc<RefCell<H>>>> = RefCell::default();
    move |sm| {
        let mut made = made.borrow_mut();
        let hook = made.entry(sm);
        Shared(Rc::clone(
            hook.or_insert_with(|| Rc::new(RefCell::new(make(sm)))),
        ))
    }
}

/// Attaches an issue hook to each SM and gives it as what protects bits there.
pub fn attach_issue<H>(hooks: &mut Hooks, make: impl Fn(u32) -> H + 'static) -> ProtectionFactory
where
    H: IssueHook + Protection + 'static,
{
    let of = Rc::new(one_an_sm(make));
    let protection = Rc::clone(&of);
    hooks.issue.push(Box::new(move |sm| Box::new(of(sm))));
    Box::new(move |sm| vec![Box::new(protection(sm))])
}

/// Attaches an observer of the front end to each SM and gives it as what protects bits there.
pub fn attach_fetch<H>(hooks: &mut Hooks, make: impl Fn(u32) -> H + 'static) -> ProtectionFactory
where
    H: FetchObserver + Protection + 'static,
{
    let of = Rc::new(one_an_sm(make));
    let protection = Rc::clone(&of);
    hooks
        .fetch_observers
        .push(Box::new(move |sm| Box::new(of(sm))));
    Box::new(move |sm| vec![Box::new(protection(sm))])
}

impl<H: Protection> Protection for Shared<H> {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        self.0.borrow_mut().cover(residency, covers);
    }

    fn read(&mut self, warp: u8, entry: u32, cycle: u64) {
        self.0.borrow_mut().read(warp, entry, cycle);
    }
}

impl<H: IssueHook> IssueHook for Shared<H> {
    fn begin(&mut self, trace: &KernelTrace) {
        self.0.borrow_mut().begin(trace);
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.0.borrow_mut().placed(event);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        self.0.borrow_mut().issued(event, plan);
    }

    fn collected(&mut self, warp: u8, cycle: u64) {
        self.0.borrow_mut().collected(warp, cycle);
    }

    fn shared_taken(&mut self, taken: &SharedUse<'_>) {
        self.0.borrow_mut().shared_taken(taken);
    }

    fn loaded(&mut self, cycle: u64, warp: u8) {
        self.0.borrow_mut().loaded(cycle, warp);
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        self.0.borrow_mut().retired(cycle, warp);
    }

    fn up_to(&mut self, cycle: u64) {
        self.0.borrow_mut().up_to(cycle);
    }

    fn report(&self, activity: &mut Activity) {
        self.0.borrow().report(activity);
    }

    fn report_levels(&self, activity: &mut Activity) {
        self.0.borrow().report_levels(activity);
    }
}

impl<H: FetchObserver> FetchObserver for Shared<H> {
    fn fetched(&mut self, event: FetchEvent) {
        self.0.borrow_mut().fetched(event);
    }

    fn delivered(&mut self, event: FetchEvent) {
        self.0.borrow_mut().delivered(event);
    }

    fn buffered(&mut self, event: FetchEvent) {
        self.0.borrow_mut().buffered(event);
    }

    fn issued(&mut self, event: FetchEvent) {
        self.0.borrow_mut().issued(event);
    }

    fn retired(&mut self, warp: u8) {
        self.0.borrow_mut().retired(warp);
    }

    fn report(&self, activity: &mut Activity) {
        self.0.borrow().report(activity);
    }
}
