//! Reading of launches: the plain form of a case, and `[[CASE.step]]`.

use toml::Spanned;

use super::Entry;
use super::case::Arguments;
use super::fields::{Fields, Unknown, integer, unknown_name};
use super::host::{Around, read_copy, read_set};
use super::repeat;
use crate::launch::form::Constants;
use crate::launch::verify::{BLOCK_LIMITS, CLUSTER_LIMITS, GRID_LIMITS, SHARED};
use crate::launch::{Action, Form, KernelLaunch, Problem, Repeat, Role, Scalar, Step, Variables};

const STEP_KEYS: [&str; 12] = [
    "kernel",
    "grid",
    "block",
    "cluster",
    "dynamic_shared",
    "args",
    "loop",
    "launch",
    "step",
    "set",
    "copy",
    "note",
];
const LAUNCH_KEYS: [&str; 6] = [
    "kernel",
    "grid",
    "block",
    "cluster",
    "dynamic_shared",
    "args",
];

/// Loops in each other.
const DEEPEST: usize = 8;

/// What stands in a step, and the variables around it.
struct Round<'a> {
    arguments: &'a Arguments,
    scope: Vec<String>,
    /// Loops around it.
    depth: usize,
}

/// The steps of a case: one launch, unless the case lists steps.
pub(super) fn read_all(fields: &mut Fields<'_, '_>, arguments: &Arguments) -> Vec<Step> {
    let round = Round {
        arguments,
        scope: Vec::new(),
        depth: 0,
    };
    if !fields.has("step") {
        let launch = round.launch(fields).map(Action::Launch);
        return vec![Step {
            repeat: Repeat::Once,
            body: launch.into_iter().collect(),
        }];
    }
    fields.refuse(&LAUNCH_KEYS, "the case lists its steps");
    round.steps(fields)
}

/// Names of a form that nobody knows.
pub(super) fn check_names(
    form: &Form,
    scope: &[String],
    constants: &Constants,
) -> Result<(), Problem> {
    let mut strangers = form.free().into_iter();
    let stranger = strangers.find(|name| !scope.iter().any(|known| known == name));
    match stranger {
        None => Ok(()),
        Some(name) => {
            let known = scope.iter().chain(constants.keys());
            let span = form.span();
            let problem = unknown_name(name, known.map(String::as_str));
            Err(Problem { span, ..problem })
        }
    }
}

impl Round<'_> {
    /// The steps that stand in a table.
    fn steps(&self, fields: &mut Fields<'_, '_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, (span, table)) in fields.tables("step").into_iter().enumerate() {
            let what = format!("step {number} of {}", fields.what());
            let mut step = Fields::new(what, span, table, fields.problems());
            steps.extend(self.step(&mut step));
        }
        steps
    }

    fn step(&self, fields: &mut Fields<'_, '_>) -> Option<Step> {
        fields.check_keys(&STEP_KEYS, Unknown::Refused);
        let (loops, inside) = self.loops(fields)?;
        let mut body = inside.body(fields);
        // Several loops of one step stand in each other, the first outermost.
        let mut loops = loops.into_iter();
        let first = loops.next().unwrap_or(Repeat::Once);
        for repeat in loops.rev() {
            body = vec![Action::Step(Step { repeat, body })];
        }
        Some(Step {
            repeat: first,
            body,
        })
    }

    /// The loops around a step, and what is known within them.
    fn loops(&self, fields: &mut Fields<'_, '_>) -> Option<(Vec<Repeat>, Self)> {
        let tables = match fields.entry("loop") {
            Some(entry) if entry.get_ref().is_array() => fields.tables("loop"),
            _ => fields.table("loop").into_iter().collect(),
        };
        let mut inside = Self {
            arguments: self.arguments,
            scope: self.scope.clone(),
            depth: self.depth + tables.len().max(1),
        };
        if inside.depth > DEEPEST {
            let message = format!("more than {DEEPEST} steps and loops in each other");
            fields.problem(Problem::new(fields.span(), message));
            return None;
        }
        let mut loops = Vec::new();
        for (span, table) in tables {
            let mut inner = Fields::new("`loop`", span, table, fields.problems());
            let repeat = repeat::read(&mut inner, self.arguments, &inside.scope)?;
            inside.scope.extend(repeat.variable().map(str::to_owned));
            loops.push(repeat);
        }
        Some((loops, inside))
    }

    /// What a step does: its own launch, or what it lists.
    fn body(&self, fields: &mut Fields<'_, '_>) -> Vec<Action> {
        let lists = ["launch", "step", "set", "copy"].into_iter();
        let listed: Vec<&str> = lists.filter(|key| fields.has(key)).collect();
        if let Some((first, others)) = listed.split_first() {
            let reason =
                format!("the step has `{first}`; steps that follow each other are several");
            fields.refuse(others, &reason);
            fields.refuse(&LAUNCH_KEYS, &reason);
        }
        let around = Around {
            arguments: self.arguments,
            scope: &self.scope,
        };
        match listed.first() {
            None => self
                .launch(fields)
                .map(Action::Launch)
                .into_iter()
                .collect(),
            Some(&"step") => self.steps(fields).into_iter().map(Action::Step).collect(),
            Some(&"launch") => self.launches(fields),
            Some(&key) => {
                let Some((span, table)) = fields.table(key) else {
                    return Vec::new();
                };
                let what = format!("`{key}`");
                let mut inner = Fields::new(what, span, table, fields.problems());
                let action = match key {
                    "set" => read_set(&mut inner, &around),
                    _ => read_copy(&mut inner, &around),
                };
                action.into_iter().collect()
            }
        }
    }

    fn launches(&self, fields: &mut Fields<'_, '_>) -> Vec<Action> {
        let mut launches = Vec::new();
        for (number, (span, table)) in fields.tables("launch").into_iter().enumerate() {
            let what = format!("launch {number} of {}", fields.what());
            let mut inner = Fields::new(what, span, table, fields.problems());
            inner.check_keys(&LAUNCH_KEYS, Unknown::Refused);
            launches.extend(self.launch(&mut inner).map(Action::Launch));
        }
        launches
    }

    fn launch(&self, fields: &mut Fields<'_, '_>) -> Option<KernelLaunch> {
        let kernel = fields.require_string_at("kernel", "the name of an entry in the PTX");
        let grid = self.shape(fields, "grid", GRID_LIMITS);
        let block = self.shape(fields, "block", BLOCK_LIMITS);
        let cluster = match fields.has("cluster") {
            true => Some(self.shape(fields, "cluster", CLUSTER_LIMITS)?),
            false => None,
        };
        let dynamic_shared = match fields.entry("dynamic_shared") {
            Some(entry) => self.number(fields, "`dynamic_shared`", entry, (0, SHARED)),
            None => Some(Form::Constant(0.0)),
        };
        let arguments = match fields.has("args") {
            true => self.named(fields),
            false => Some(self.arguments.passed.clone()),
        };
        let arguments = arguments?;
        self.check_scalars(fields, &arguments);
        Some(KernelLaunch {
            kernel: kernel?,
            grid: grid?,
            block: block?,
            cluster,
            dynamic_shared: dynamic_shared?,
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

    /// Extents in x, y, z; missing ones are 1. One that stands alone is that in x.
    fn shape(&self, fields: &mut Fields<'_, '_>, key: &str, limits: [i64; 3]) -> Option<[Form; 3]> {
        let Some(entry) = fields.entry(key) else {
            let help = "extents in x, y, z such as [64, 1, 1], or the one in x";
            fields.missing(key, help);
            return None;
        };
        let extents = match entry.get_ref().as_array() {
            Some(array) if (1..=3).contains(&array.len()) => &array[..],
            None if entry.get_ref().is_str() || entry.get_ref().is_integer() => {
                std::slice::from_ref(entry)
            }
            _ => {
                fields.mistyped(key, entry, "one to three extents such as [64, 1, 1]");
                return None;
            }
        };
        let mut shape = [const { None }; 3];
        for (axis, extent) in extents.iter().enumerate() {
            shape[axis] = self.number(fields, "an extent", extent, (1, limits[axis]));
        }
        shape[extents.len()..].fill(Some(Form::Constant(1.0)));
        let [x, y, z] = shape;
        Some([x?, y?, z?])
    }

    /// A whole number within bounds, or an expression that follows loops.
    fn number(
        &self,
        fields: &mut Fields<'_, '_>,
        what: &str,
        entry: &Entry<'_>,
        (low, high): (i64, i64),
    ) -> Option<Form> {
        let value = entry.get_ref();
        let form = match (value.as_str(), integer(value)) {
            (Some(text), _) => Form::parse(text, entry.span(), &self.arguments.constants),
            (None, Some(integer)) => Ok(Form::Constant(integer as f64)),
            (None, None) => {
                let wanted = format!("{what} is an integer, or an expression in quotes");
                Err(Problem::new(entry.span(), wanted))
            }
        };
        let checked = form.and_then(|form| {
            check_names(&form, &self.scope, &self.arguments.constants)?;
            let value = match &form {
                Form::Varying(_) => return Ok(form),
                Form::Constant(_) => form.integer(Variables::NONE),
            };
            match value {
                Ok(value) if (low..=high).contains(&value) => Ok(form),
                Ok(value) => Err(format!("{what} must be from {low} to {high}, not {value}")),
                Err(message) => Err(message),
            }
            .map_err(|message| Problem::new(entry.span(), message))
        });
        checked.map_err(|problem| fields.problem(problem)).ok()
    }

    /// What follows a loop's variable needs that loop around the launches that use it.
    fn check_scalars(&self, fields: &mut Fields<'_, '_>, arguments: &[usize]) {
        for argument in arguments.iter().map(|index| &self.arguments.list[*index]) {
            let (what, form) = match &argument.role {
                Role::Scalar(Scalar::Varying(form)) => ("scalar", form),
                Role::Pointer(pointer) => ("pointer", &pointer.plus),
                _ => continue,
            };
            if let Err(problem) = check_names(form, &self.scope, &self.arguments.constants) {
                let name = argument.name.get_ref();
                let message = format!("{what} `{name}` in {}: {}", fields.what(), problem.message);
                let span = fields.span();
                fields.problem(Problem {
                    span,
                    message,
                    ..problem
                });
            }
        }
    }
}

fn name(entry: &Entry<'_>) -> Option<Spanned<String>> {
    let text = entry.get_ref().as_str()?;
    Some(Spanned::new(entry.span(), text.to_owned()))
}
