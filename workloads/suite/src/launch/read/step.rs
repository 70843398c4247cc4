//! Reading of launches: the plain form of a case, and `[[CASE.step]]`.

use toml::Spanned;

use super::Entry;
use super::case::Arguments;
use super::fields::{Fields, Unknown, integer};
use crate::launch::linear::is_name;
use crate::launch::{ElementType, KernelLaunch, Linear, Problem, Repeat, Role, Scalar, Step};

const STEP_KEYS: [&str; 7] = [
    "kernel",
    "grid",
    "block",
    "dynamic_shared",
    "args",
    "loop",
    "launch",
];
const LAUNCH_KEYS: [&str; 5] = ["kernel", "grid", "block", "dynamic_shared", "args"];
const LOOP_KEYS: [&str; 7] = [
    "variable",
    "from",
    "to",
    "step",
    "while_nonzero",
    "reset",
    "max",
];

/// Largest grid in x, and in y and z; largest block and its z (CUDA C Programming Guide, "Compute Capabilities").
const GRID_LIMITS: [i64; 3] = [(1 << 31) - 1, 65_535, 65_535];
const BLOCK_LIMITS: [i64; 3] = [1024, 1024, 64];
const BLOCK_THREADS: i64 = 1024;
/// Rounds of one loop.
const ROUNDS: i64 = 65_536;
/// Dynamic shared memory of a CTA.
const SHARED: i64 = 227 << 10;

/// What launches of one round have in common.
struct Round<'a> {
    arguments: &'a Arguments,
    repeat: Repeat,
}

/// The steps of a case: one launch, unless the case lists steps.
pub(super) fn read_all(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Vec<Step> {
    if !fields.has("step") {
        let round = Round {
            arguments,
            repeat: Repeat::Once,
        };
        let launch = round.launch(fields);
        return vec![Step {
            repeat: Repeat::Once,
            launches: launch.into_iter().collect(),
        }];
    }
    fields.refuse(
        &["kernel", "grid", "block", "dynamic_shared"],
        "the case lists its steps",
    );
    let tables = fields.tables("step");
    let mut steps = Vec::new();
    for (number, (span, table)) in tables.into_iter().enumerate() {
        let what = format!("step {number} of {}", fields.what());
        let mut step = Fields::new(what, span, table, fields.problems());
        steps.extend(read(&mut step, arguments));
    }
    steps
}

fn read(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Option<Step> {
    fields.check_keys(&STEP_KEYS, Unknown::Refused);
    let repeat = match fields.table("loop") {
        Some((span, table)) => {
            let mut inner = Fields::new("`loop`", span, table, fields.problems());
            read_loop(&mut inner, arguments)?
        }
        None => Repeat::Once,
    };
    let round = Round { arguments, repeat };
    let mut launches = Vec::new();
    if fields.has("launch") {
        fields.refuse(&LAUNCH_KEYS, "the step lists its launches");
        for (number, (span, table)) in fields.tables("launch").into_iter().enumerate() {
            let what = format!("launch {number} of {}", fields.what());
            let mut inner = Fields::new(what, span, table, fields.problems());
            inner.check_keys(&LAUNCH_KEYS, Unknown::Refused);
            launches.extend(round.launch(&mut inner));
        }
    } else {
        launches.extend(round.launch(fields));
    }
    Some(Step {
        repeat: round.repeat,
        launches,
    })
}

fn read_loop(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Option<Repeat> {
    fields.check_keys(&LOOP_KEYS, Unknown::Refused);
    if fields.has("while_nonzero") {
        return read_while(fields, arguments);
    }
    fields.refuse(&["reset", "max"], "they belong to `while_nonzero`");
    let variable =
        fields.require_string_at("variable", "or `while_nonzero` with a buffer's name")?;
    if !is_name(variable.get_ref()) {
        let message = format!("`{}` cannot name a variable", variable.get_ref());
        fields.problem(Problem::new(variable.span(), message));
        return None;
    }
    for key in ["from", "to"] {
        if !fields.has(key) {
            fields.missing(
                key,
                "a counting loop runs `from` a value `to` another, both included",
            );
        }
    }
    let from = fields.integer("from", -ROUNDS, ROUNDS)?;
    let to = fields.integer("to", -ROUNDS, ROUNDS)?;
    let step = match fields.has("step") {
        true => fields.integer("step", -ROUNDS, ROUNDS)?,
        false => 1,
    };
    if step == 0 || (to - from).signum() * step.signum() < 0 {
        let message = format!("a loop from {from} to {to} in steps of {step} has no rounds");
        fields.problem(Problem::new(fields.span(), message));
        return None;
    }
    Some(Repeat::Count {
        variable: variable.into_inner(),
        from,
        to,
        step,
    })
}

fn read_while(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Option<Repeat> {
    fields.refuse(
        &["variable", "from", "to", "step"],
        "the loop runs while a buffer is not zero",
    );
    let name = fields.string_at("while_nonzero")?;
    let buffer = arguments.position(&name, fields.problems())?;
    if let Role::Scalar(_) = arguments.list[buffer].role {
        let message = format!("`{}` is a scalar: kernels cannot change it", name.get_ref());
        fields.problem(Problem::new(name.span(), message));
        return None;
    }
    if !fields.has("max") {
        fields.missing("max", "more rounds than this mean that something is wrong");
    }
    Some(Repeat::WhileNonzero {
        buffer,
        reset: fields.boolean("reset").unwrap_or(false),
        max: fields.integer("max", 1, ROUNDS)? as u32,
    })
}

impl Round<'_> {
    fn launch(&self, fields: &mut Fields<'_, '_>) -> Option<KernelLaunch> {
        let kernel = fields.require_string_at("kernel", "the name of an entry in the PTX");
        let grid = self.shape(fields, "grid", GRID_LIMITS);
        let block = self.shape(fields, "block", BLOCK_LIMITS);
        if let Some(block) = &block {
            self.check_threads(fields, block);
        }
        let dynamic_shared = fields.integer("dynamic_shared", 0, SHARED);
        let arguments = match fields.has("args") {
            true => self.named(fields),
            false => Some(self.arguments.passed.clone()),
        };
        let arguments = arguments?;
        self.check_variables(fields, &arguments);
        Some(KernelLaunch {
            kernel: kernel?,
            grid: grid?,
            block: block?,
            dynamic_shared: dynamic_shared.unwrap_or(0) as u32,
            arguments,
        })
    }

    /// The arguments that a launch names.
    fn named(&self, fields: &mut Fields<'_, '_>) -> Option<Vec<usize>> {
        let entry = fields.entry("args")?;
        let names = entry.get_ref().as_array();
        let names = names.and_then(|array| array.iter().map(name).collect::<Option<Vec<_>>>());
        let Some(names) = names else {
            fields.mistyped("args", entry, "an array of argument names");
            return None;
        };
        let found = names
            .iter()
            .map(|name| self.arguments.position(name, fields.problems()));
        let found: Vec<_> = found.collect();
        found.into_iter().collect()
    }

    /// Extents in x, y, z; missing ones are 1.
    fn shape(
        &self,
        fields: &mut Fields<'_, '_>,
        key: &str,
        limits: [i64; 3],
    ) -> Option<[Linear; 3]> {
        let Some(entry) = fields.entry(key) else {
            fields.missing(key, "an array of extents in x, y, z such as [64, 1, 1]");
            return None;
        };
        let extents = entry
            .get_ref()
            .as_array()
            .filter(|array| (1..=3).contains(&array.len()));
        let Some(extents) = extents else {
            fields.mistyped(key, entry, "an array of one to three extents");
            return None;
        };
        let mut shape = [const { None }; 3];
        for (axis, extent) in extents.iter().enumerate() {
            shape[axis] = self.extent(fields, extent, limits[axis]);
        }
        shape[extents.len()..].fill(Some(Linear::constant(1)));
        let [x, y, z] = shape;
        Some([x?, y?, z?])
    }

    fn extent(&self, fields: &mut Fields<'_, '_>, entry: &Entry<'_>, limit: i64) -> Option<Linear> {
        let form = match (entry.get_ref().as_str(), integer(entry.get_ref())) {
            (Some(text), _) => Linear::parse(text),
            (None, Some(value)) => match i64::try_from(value) {
                Ok(value) => Ok(Linear::constant(value)),
                Err(_) => Err(format!("an extent must be from 1 to {limit}, not {value}")),
            },
            (None, None) => {
                Err("an extent is an integer, or a form of the loop variable".to_owned())
            }
        };
        let form = form.and_then(|form| self.check_form(form));
        let form = form.and_then(|form| match self.extremes(&form) {
            (low, high) if low >= 1 && high <= limit => Ok(form),
            (low, high) => {
                let wrong = if low < 1 { low } else { high };
                Err(format!("an extent must be from 1 to {limit}, not {wrong}"))
            }
        });
        form.map_err(|message| fields.problem(Problem::new(entry.span(), message)))
            .ok()
    }

    /// A form may only use the variable of the loop around it.
    fn check_form(&self, form: Linear) -> Result<Linear, String> {
        match (&form.variable, self.repeat.variable()) {
            (Some(used), Some(known)) if used != known => {
                Err(format!("there is no variable `{used}` here, but `{known}`"))
            }
            (Some(used), None) => Err(format!(
                "there is no variable `{used}`: no counting loop is around it"
            )),
            _ => Ok(form),
        }
    }

    /// Smallest and largest value of a form; it is linear, so both are at the ends of the loop.
    fn extremes(&self, form: &Linear) -> (i64, i64) {
        let (from, to) = match self.repeat {
            Repeat::Count { from, to, step, .. } => (from, from + (to - from) / step * step),
            _ => (0, 0),
        };
        let (first, last) = (form.at(from), form.at(to));
        (first.min(last), first.max(last))
    }

    fn check_threads(&self, fields: &mut Fields<'_, '_>, block: &[Linear; 3]) {
        let threads: i64 = block.iter().map(|extent| self.extremes(extent).1).product();
        if threads > BLOCK_THREADS
            && let Some(entry) = fields.entry("block")
        {
            let message = format!("a block of {threads} threads is too large");
            let problem = Problem::new(entry.span(), message);
            fields.problem(problem.help(format!("at most {BLOCK_THREADS} threads a block")));
        }
    }

    /// Scalars that follow a loop variable need that loop, and must fit their type in every round.
    fn check_variables(&self, fields: &mut Fields<'_, '_>, arguments: &[usize]) {
        for argument in arguments.iter().map(|index| &self.arguments.list[*index]) {
            let Role::Scalar(Scalar::Linear(form)) = &argument.role else {
                continue;
            };
            let checked = self.check_form(form.clone());
            if let Err(message) = checked.and_then(|form| self.check_range(&form, argument.element))
            {
                let name = argument.name.get_ref();
                let message = format!("scalar `{name}` in {}: {message}", fields.what());
                fields.problem(Problem::new(fields.span(), message));
            }
        }
    }

    fn check_range(&self, form: &Linear, element: ElementType) -> Result<(), String> {
        let (first, last) = self.extremes(form);
        let Some((low, high)) = element.integer_range() else {
            return Ok(());
        };
        match [first, last]
            .map(i128::from)
            .iter()
            .find(|value| !(low..=high).contains(value))
        {
            Some(value) => Err(format!("{value} does not fit into {}", element.name())),
            None => Ok(()),
        }
    }
}

fn name(entry: &Entry<'_>) -> Option<Spanned<String>> {
    let text = entry.get_ref().as_str()?;
    Some(Spanned::new(entry.span(), text.to_owned()))
}
