//! Whether everything that follows a loop stays within its bounds in every round.

use std::collections::BTreeSet;
use std::ops::Range;

use super::form::Variables;
use super::rounds::{MOST_ROUNDS, Stopped, visit};
use super::{Action, Argument, Case, Copying, Form, KernelLaunch, Problem, Role, Scalar, Set};

/// Largest grid in x, and in y and z; largest block and its z (CUDA C Programming Guide, "Compute Capabilities").
pub(super) const GRID_LIMITS: [i64; 3] = [(1 << 31) - 1, 65_535, 65_535];
pub(super) const BLOCK_LIMITS: [i64; 3] = [1024, 1024, 64];
/// Most CTAs of a cluster, with sizes that are not portable.
const CLUSTER_CTAS: i64 = 16;
pub(super) const CLUSTER_LIMITS: [i64; 3] = [CLUSTER_CTAS; 3];
const BLOCK_THREADS: i64 = 1024;
/// Dynamic shared memory of a CTA.
pub(super) const SHARED: i64 = 227 << 10;

/// Goes through all rounds of a case's loops; what they take is taken from `left`, which a file's cases share.
pub(super) fn verify(case: &Case, left: &mut u32, problems: &mut Vec<Problem>) {
    let mut verifier = Verifier {
        arguments: &case.arguments,
        told: BTreeSet::new(),
        problems,
    };
    let stopped = visit(&case.steps, left, &mut |action, variables| match action {
        Action::Launch(launch) => verifier.launch(launch, variables),
        Action::Set(set) => verifier.set(set, variables),
        Action::Copy(copy) => verifier.copy(copy, variables),
        Action::Step(_) => {}
    });
    match stopped {
        Ok(()) => {}
        Err(Stopped::Bound(span, message)) => verifier.tell(span, message, None),
        Err(Stopped::TooMany) => {
            let message = format!(
                "with case `{}` the loops of the file have more than {MOST_ROUNDS} rounds and launches",
                case.name.get_ref()
            );
            let help = "a bound may be wrong; or write the cases to files of their own";
            verifier.tell(case.name.span(), message, Some(help));
        }
    }
}

struct Verifier<'c, 'p> {
    arguments: &'c [Argument],
    /// What something was told of, so that a loop does not say it again in each round.
    told: BTreeSet<(usize, usize)>,
    problems: &'p mut Vec<Problem>,
}

impl Verifier<'_, '_> {
    fn tell(&mut self, span: Range<usize>, message: String, help: Option<&str>) {
        if self.told.insert((span.start, span.end)) {
            let mut problem = Problem::new(span, message);
            problem.help = help.map(str::to_owned);
            self.problems.push(problem);
        }
    }

    /// A number within bounds, or else a word about it.
    fn within(
        &mut self,
        form: &Form,
        variables: Variables<'_>,
        (what, low, high): (&str, i64, i64),
        place: &Range<usize>,
    ) -> Option<i64> {
        if is_strange(form, variables) {
            return None;
        }
        let span = match form {
            Form::Constant(_) => place.clone(),
            Form::Varying(_) => form.span(),
        };
        match form.integer(variables) {
            Ok(value) if (low..=high).contains(&value) => return Some(value),
            Ok(value) => {
                let at = variables.described(&form.free());
                let message = format!("{what} must be from {low} to {high}, not {value}{at}");
                self.tell(span, message, None);
            }
            Err(message) => self.tell(span, message, None),
        }
        None
    }

    fn launch(&mut self, launch: &KernelLaunch, variables: Variables<'_>) {
        let place = launch.kernel.span();
        for (shape, limits) in [(&launch.grid, GRID_LIMITS), (&launch.block, BLOCK_LIMITS)] {
            for (extent, limit) in shape.iter().zip(limits) {
                self.within(extent, variables, ("an extent", 1, limit), &place);
            }
        }
        let extents = launch.block.iter().map(|extent| extent.integer(variables));
        let threads = extents.filter_map(Result::ok).fold(1, i64::saturating_mul);
        if threads > BLOCK_THREADS {
            let varying = launch.block.iter().find(|extent| !extent.free().is_empty());
            let span = varying.map_or(place.clone(), Form::span);
            let message = format!("a block of {threads} threads is too large");
            let help = format!("at most {BLOCK_THREADS} threads a block");
            self.tell(span, message, Some(&help));
        }
        self.cluster(launch, variables);
        let shared = ("`dynamic_shared`", 0, SHARED);
        self.within(&launch.dynamic_shared, variables, shared, &place);
        for &argument in &launch.arguments {
            self.argument(argument, variables);
        }
    }

    /// Clusters are of few CTAs, and the grid is a multiple of them.
    fn cluster(&mut self, launch: &KernelLaunch, variables: Variables<'_>) {
        let Some(cluster) = &launch.cluster else {
            return;
        };
        let place = launch.kernel.span();
        let mut ctas = 1i64;
        for (extent, all) in cluster.iter().zip(&launch.grid) {
            let bounds = ("an extent of `cluster`", 1, CLUSTER_CTAS);
            let Some(extent) = self.within(extent, variables, bounds, &place) else {
                return;
            };
            ctas = ctas.saturating_mul(extent);
            if let Ok(all) = all.integer(variables)
                && all % extent != 0
            {
                let message =
                    format!("an extent of {all} CTAs is no multiple of clusters of {extent}");
                self.tell(place.clone(), message, None);
            }
        }
        if ctas > CLUSTER_CTAS {
            let message = format!("a cluster of {ctas} CTAs is too large");
            let help = format!("at most {CLUSTER_CTAS} CTAs a cluster");
            self.tell(place, message, Some(&help));
        }
    }

    fn argument(&mut self, argument: usize, variables: Variables<'_>) {
        let arguments = self.arguments;
        let argument = &arguments[argument];
        let place = argument.name.span();
        match &argument.role {
            Role::Scalar(Scalar::Varying(form)) => match argument.element.integer_range() {
                // What a float cannot tell apart is not told here.
                Some((low, high)) => {
                    let what = format!("a scalar of type {}", argument.element.name());
                    let bounds = [low, high].map(|bound| {
                        bound.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
                    });
                    let bounds = (what.as_str(), bounds[0], bounds[1]);
                    self.within(form, variables, bounds, &place);
                }
                None if is_strange(form, variables) => {}
                None => {
                    if let Err(message) = form.number(variables) {
                        self.tell(form.span(), message, None);
                    }
                }
            },
            Role::Pointer(pointer) => {
                let count = pointer.buffer.map_or(0, |buffer| self.count(buffer));
                let bounds = ("`plus`", 0, count);
                self.within(&pointer.plus, variables, bounds, &place);
            }
            _ => {}
        }
    }

    /// Elements of a buffer.
    fn count(&self, argument: usize) -> i64 {
        match &self.arguments[argument].role {
            Role::Buffer(buffer) => buffer.count as i64,
            _ => 0,
        }
    }

    fn set(&mut self, set: &Set, variables: Variables<'_>) {
        let element = self.arguments[set.buffer].element;
        match element.integer_range() {
            Some((low, high)) => {
                let high = high.min(i128::from(i64::MAX)) as i64;
                let bounds = ("`value`", low as i64, high);
                self.within(&set.value, variables, bounds, &set.span);
            }
            None => {
                if let Err(message) = set.value.number(variables) {
                    self.tell(set.value.span(), message, None);
                }
            }
        }
        self.range((set.buffer, &set.at), &set.count, variables, &set.span);
    }

    fn copy(&mut self, copy: &Copying, variables: Variables<'_>) {
        for (buffer, at) in [&copy.from, &copy.to] {
            self.range((*buffer, at), &copy.count, variables, &copy.span);
        }
    }

    /// Elements of a buffer that are all there.
    fn range(
        &mut self,
        (buffer, at): (usize, &Form),
        count: &Option<Form>,
        variables: Variables<'_>,
        place: &Range<usize>,
    ) {
        let all = self.count(buffer);
        let Some(at) = self.within(at, variables, ("the first element", 0, all), place) else {
            return;
        };
        if let Some(count) = count {
            let name = self.arguments[buffer].name.get_ref();
            let what = format!("`count` of elements of `{name}` from {at} on");
            self.within(count, variables, (&what, 0, all - at), place);
        }
    }
}

/// Whether an expression names what is not there, which was told when it was read.
fn is_strange(form: &Form, variables: Variables<'_>) -> bool {
    let free = form.free();
    free.iter().any(|name| variables.get(name).is_none())
}
