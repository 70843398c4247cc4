//! A launch: all work-groups of the grid one after the other, or single ones as often as needed, with or without an upset.

use warpwatt_simt::{DeviceMemory, Execution, Interrupt, Options};

use crate::dispatch;
use crate::dispatch::PACKET_BYTES;
use crate::error::{Cause, ExecError};
use crate::exec::World;
use crate::exec::float::Mode;
use crate::execute::{Code, fits};
use crate::group::{Group, GroupFault, Start, Waves};
use crate::launch::Launch;
use crate::object::Kernel;
use crate::upset::{Flip, Tape, Upset, Watch};
use crate::wave::{LANES, Wave};

/// A launch whose work-groups can be executed one by one. What they leave in memory is theirs to see for those that are executed later.
pub struct Replay<'c> {
    code: &'c Code,
    kernel: &'c Kernel,
    grid: [u32; 3],
    start: Start,
    arguments: Vec<u8>,
    packet: [u8; PACKET_BYTES],
    group: Group,
    interrupt: Option<Interrupt>,
}

impl Code {
    /// Executes a launch functionally: group after group, wavefronts in turns. Results land in `memory`.
    ///
    /// # Errors
    /// An unknown kernel, a launch that fits neither kernel nor machine, or a fault with its place.
    pub fn execute(
        &self,
        launch: &Launch<'_>,
        memory: &mut DeviceMemory,
        options: &Options,
    ) -> Result<Execution, ExecError> {
        let mut replay = Replay::new(self, launch, options.record)?;
        replay.interrupt = options.interrupt;
        let mut trace = options.record.then(|| {
            self.trace(
                replay.kernel(),
                launch,
                replay.share_bytes(),
                &options.store,
            )
        });
        let mut execution = Execution {
            trace: None,
            warp_instructions: 0,
            thread_instructions: 0,
            predicated_off: 0,
            spread: 0,
            races: Vec::new(),
        };
        let mut left = options.limit;
        for number in 0..replay.groups() {
            replay.execute(number, memory, (&mut left, options.limit))?;
            for wave in replay.waves() {
                execution.warp_instructions += wave.counts.instructions;
                execution.thread_instructions += wave.counts.lanes;
                if let (Some(trace), Some(recorder)) = (&mut trace, &wave.recorder) {
                    let kept = trace.push_warp(recorder);
                    kept.map_err(|error| ExecError::Store {
                        kernel: launch.kernel.to_owned(),
                        error,
                    })?;
                }
            }
        }
        execution.trace = trace;
        Ok(execution)
    }
}

impl<'c> Replay<'c> {
    /// A launch of `code`; `record` says whether its wavefronts keep what they did.
    ///
    /// # Errors
    /// As [`Code::execute`], before anything runs.
    pub fn new(code: &'c Code, launch: &Launch<'_>, record: bool) -> Result<Self, ExecError> {
        let kernel = code.kernel(launch.kernel)?;
        let refused = |message| ExecError::Launch {
            kernel: kernel.name.clone(),
            message,
        };
        fits(kernel, launch).map_err(refused)?;
        let descriptor = &kernel.descriptor;
        let mode = Mode::new(
            descriptor.float_mode(),
            descriptor.clamps_nan(),
            descriptor.ieee(),
        );
        let mode = mode.map_err(|cause| refused(cause.to_string()))?;
        let items = launch.block.iter().product::<u32>();
        let count = (items as usize).div_ceil(LANES);
        let wave = Wave::new(mode, record);
        Ok(Self {
            code,
            kernel,
            grid: launch.grid,
            start: Start {
                mode,
                entry: code.entry(kernel)?,
                vectors: code.vectors(),
            },
            arguments: dispatch::arguments(kernel, launch),
            packet: dispatch::packet(kernel, launch),
            group: Group::new(kernel, launch, vec![wave; count]),
            interrupt: None,
        })
    }

    /// Work-groups of the launch.
    pub fn groups(&self) -> u64 {
        self.grid.iter().map(|extent| u64::from(*extent)).product()
    }

    pub(crate) fn kernel(&self) -> &'c Kernel {
        self.kernel
    }

    pub(crate) fn share_bytes(&self) -> u32 {
        self.group.share_bytes()
    }

    /// The wavefronts as the last work-group left them.
    pub(crate) fn waves(&mut self) -> &[Wave] {
        self.group.parts().2
    }

    /// Executes work-group `number` on `memory`, in at most `limit` instructions of its wavefronts; how many there were.
    ///
    /// # Errors
    /// What stops the work-group; `memory` is then as it was in that moment.
    pub fn run(
        &mut self,
        number: u64,
        memory: &mut DeviceMemory,
        upset: Option<&Upset<'_>>,
        limit: u64,
    ) -> Result<u64, ExecError> {
        let mut left = limit;
        match upset {
            None => self.execute(number, memory, (&mut left, limit))?,
            Some(upset) => self.execute_by(number, memory, limit, |turns, waves, world| {
                turns.upset(upset, (waves, world), &mut left)
            })?,
        }
        Ok(limit - left)
    }

    /// What wavefront `wave` of a work-group does between its instructions `span`, with or without a flip right before the first of them. The work-group is left
    /// when the wavefront is through.
    ///
    /// # Errors
    /// What stops the work-group, and what is on the tape by then.
    pub fn watched(
        &mut self,
        number: u64,
        memory: &mut DeviceMemory,
        (wave, span, flip): (usize, std::ops::Range<u64>, Option<Flip>),
        limit: u64,
    ) -> Result<Tape, (ExecError, Tape)> {
        let mut left = limit;
        let mut watch = Watch {
            wave,
            from: span.start,
            until: span.end,
            tape: Tape::default(),
        };
        let vectors = self.kernel.descriptor.vector_registers();
        let done = self.execute_by(number, memory, limit, |turns, waves, world| {
            let done = turns.watch(&mut watch, flip, (waves, world), &mut left);
            watch.tape.state = waves[wave].state(vectors);
            done
        });
        match done {
            Ok(()) => Ok(watch.tape),
            Err(error) => Err((error, watch.tape)),
        }
    }

    /// Executes a work-group; what is left of `left` says how many instructions that took.
    pub(crate) fn execute(
        &mut self,
        number: u64,
        memory: &mut DeviceMemory,
        (left, limit): (&mut u64, u64),
    ) -> Result<(), ExecError> {
        self.execute_by(number, memory, limit, |turns, waves, world| {
            waves.run(turns.code.program(), world, left)
        })
    }

    fn execute_by(
        &mut self,
        number: u64,
        memory: &mut DeviceMemory,
        limit: u64,
        run: impl FnOnce(Turns<'c>, &mut Waves, &mut World<'_>) -> Result<(), GroupFault>,
    ) -> Result<(), ExecError> {
        let [x, y, _] = self.grid.map(u64::from);
        let place = [number % x, number / x % y, number / x / y].map(|at| at as u32);
        self.group.start(self.kernel, place, self.start);
        let (scratch, share, waves) = self.group.parts();
        let mut world = World {
            device: memory,
            image: &self.code.object().image,
            arguments: &self.arguments,
            packet: &self.packet,
            scratch,
            share,
            interrupt: self.interrupt,
        };
        let done = run(Turns { code: self.code }, waves, &mut world);
        done.map_err(|fault| self.code.fault(self.kernel, place, limit, fault))
    }
}

/// Gives wavefronts their turns around a flip.
#[derive(Clone, Copy)]
struct Turns<'c> {
    code: &'c Code,
}

impl Turns<'_> {
    /// Runs the work-group to its end with a flip in it.
    fn upset(
        self,
        upset: &Upset<'_>,
        (waves, world): (&mut Waves, &mut World<'_>),
        left: &mut u64,
    ) -> Result<(), GroupFault> {
        let program = self.code.program();
        match *upset {
            Upset::Share { cut, bit } => {
                waves.run_to(cut, program, (world, left))?;
                if let Some(byte) = world.share.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                waves.run(program, world, left)
            }
            Upset::Wave {
                wave,
                executed,
                what,
            } => {
                let mut watch = Watch {
                    wave,
                    from: executed,
                    until: executed + 1,
                    tape: Tape::default(),
                };
                self.watch(&mut watch, Some(what), (waves, world), left)?;
                waves.run(program, world, left)
            }
        }
    }

    /// Runs the work-group until a wavefront is behind the end of what is watched of it.
    fn watch(
        self,
        watch: &mut Watch,
        mut flip: Option<Flip>,
        (waves, world): (&mut Waves, &mut World<'_>),
        left: &mut u64,
    ) -> Result<(), GroupFault> {
        let program = self.code.program();
        waves.run_by(|waves, number| {
            if number != watch.wave {
                return waves.turn(number, program, (world, left));
            }
            let done = waves[number].counts.instructions;
            if done < watch.from {
                waves.turn_of(number, (program, watch.from - done), (world, left))?;
            } else {
                let count = (watch.until - done).min(*left);
                self.watched_turn(number, (watch, count), flip.take(), (waves, world), left)?;
            }
            Ok(!watch.is_over(number, &waves[number]))
        })
    }

    fn watched_turn(
        self,
        number: usize,
        (watch, count): (&mut Watch, u64),
        flip: Option<Flip>,
        (waves, world): (&mut Waves, &mut World<'_>),
        left: &mut u64,
    ) -> Result<(), GroupFault> {
        let code = (self.code.program(), self.code.statics());
        let words = match flip {
            Some(Flip::Word { .. }) => self.code.object().words(),
            _ => Vec::new(),
        };
        waves.stopped(number, left, |wave| {
            let struck = flip
                .map(|flip| wave.strike(flip, code.0, &words))
                .transpose();
            let instead = struck.map_err(|cause: Cause| cause)?.flatten();
            wave.run_watched(code, world, (count, instead), &mut watch.tape)
        })?;
        Ok(())
    }
}
