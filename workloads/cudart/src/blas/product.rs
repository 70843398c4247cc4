//! Products and sums of matrices.

use super::{address, count, long, word};
use crate::blas_handle::{Element, Handle, Kernels};
use crate::error::{Code, Outcome};
use crate::gpu::Gpu;

/// Blocks of a grid in its second direction at most; where there are more columns, a block takes several.
const MOST_DOWN: u32 = 65535;

/// What is done to a matrix first: `CUBLAS_OP_N`, `_T`, `_C`, which is `_T` for real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned(bool);

impl Turned {
    /// From its number.
    ///
    /// # Errors
    /// It is none.
    pub fn of(number: i32) -> Outcome<Self> {
        match number {
            0 => Ok(Self(false)),
            1 | 2 => Ok(Self(true)),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// A matrix, or several, as a program passes them.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Of the first element; of a list of such addresses where `list` says so.
    pub address: u64,
    /// From one column to the next, in elements.
    pub leading: i32,
    /// From one matrix to the next, in elements.
    pub apart: i64,
    /// Whether the address is that of a list.
    pub list: bool,
}

impl Matrix {
    /// One alone.
    pub fn one(address: u64, leading: i32) -> Self {
        Self::apart(address, leading, 0)
    }

    /// Several, one behind the other.
    pub fn apart(address: u64, leading: i32, apart: i64) -> Self {
        Self {
            address,
            leading,
            apart,
            list: false,
        }
    }

    /// Several, by a list of their addresses.
    pub fn list(address: u64, leading: i32) -> Self {
        Self {
            list: true,
            ..Self::one(address, leading)
        }
    }

    /// As kernels take it, as many rows as it has before it is turned.
    fn packed(&self, turned: Turned, rows: i32) -> Outcome<Vec<u8>> {
        if self.leading < rows.max(1) {
            return Err(Code::INVALID_VALUE);
        }
        let leading = i64::from(self.leading);
        let (row, column) = if turned.0 { (leading, 1) } else { (1, leading) };
        let (first, list) = if self.list {
            (0, self.address)
        } else {
            (self.address, 0)
        };
        let parts = [
            address(first),
            long(row),
            long(column),
            long(self.apart),
            address(list),
        ];
        Ok(parts.concat())
    }
}

/// `C = alpha A B + beta C`, once or for several.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Of all matrices.
    pub element: Element,
    /// Of the factors.
    pub scale: Element,
    /// What is done to A and to B first.
    pub turned: [i32; 2],
    /// Rows of C, columns of C, and products that are added up in each element.
    pub size: [i32; 3],
    /// Where the factors are.
    pub factors: [u64; 2],
    /// A, B, C.
    pub matrices: [Matrix; 3],
    /// How many.
    pub batch: i32,
}

/// Elements of C on each side of what a block makes: the largest of `sides` that gives each SM a block, else the smallest.
fn side(sides: &[u32], [m, n]: [u32; 2], batch: u32, sms: u32) -> u32 {
    let blocks =
        |side: u32| u64::from(m.div_ceil(side)) * u64::from(n.div_ceil(side)) * u64::from(batch);
    let enough = sides.iter().find(|&&side| blocks(side) >= u64::from(sms));
    *enough.unwrap_or(&sides[sides.len() - 1])
}

/// The module, the name and the sides of what a type's kernels for products make.
fn kernels(element: Element, capability: u32) -> (Kernels, String, &'static [u32]) {
    let name = element.name();
    match (element, Kernels::with_tensor_cores(element, capability)) {
        (_, Some(tensor)) => (tensor, format!("gemm_{name}_tensor"), &[128, 64]),
        (Element::F32, _) => (Kernels::Plain, format!("gemm_{name}"), &[128, 64, 32]),
        (Element::F64, _) => (Kernels::Plain, format!("gemm_{name}"), &[64, 32]),
        _ => (Kernels::Plain, format!("gemm_{name}"), &[128, 32]),
    }
}

impl Gpu {
    /// A product of matrices.
    ///
    /// # Errors
    /// Sizes do not fit, or a type has no kernel.
    pub fn blas_product(&mut self, handle: Handle, product: &Product) -> Outcome {
        let [m, n, k] = product.size;
        let extents = [count(m)?, count(n)?];
        let (_, batch) = (count(k)?, count(product.batch)?);
        let turned = [
            Turned::of(product.turned[0])?,
            Turned::of(product.turned[1])?,
            Turned(false),
        ];
        let rows = [
            if turned[0].0 { k } else { m },
            if turned[1].0 { n } else { k },
            m,
        ];
        let mut arguments = vec![word(m), word(n), word(k)];
        for factor in product.factors {
            let factor = self.blas_factor(handle, factor, product.scale)?;
            arguments.push(product.element.factor(factor));
        }
        for at in 0..3 {
            arguments.push(product.matrices[at].packed(turned[at], rows[at])?);
        }
        if extents.contains(&0) || batch == 0 {
            return Ok(());
        }
        let device = &self.setup.device;
        let (module, name, sides) = kernels(product.element, device.capability);
        let side = side(sides, extents, batch, device.sms);
        let [across, down] = extents.map(|extent| extent.div_ceil(side));
        let name = format!("{name}_{side}");
        let grid = [across, down, batch];
        self.blas_launch_of(module, handle.stream, &name, grid, &arguments)
    }

    /// `C = alpha A + beta B`.
    ///
    /// # Errors
    /// Sizes do not fit.
    pub fn blas_sum(&mut self, handle: Handle, sum: &Product) -> Outcome {
        let [m, n, _] = sum.size;
        let (rows, columns) = (count(m)?, count(n)?);
        let turned = [
            Turned::of(sum.turned[0])?,
            Turned::of(sum.turned[1])?,
            Turned(false),
        ];
        let mut arguments = vec![word(m), word(n)];
        for factor in sum.factors {
            let factor = self.blas_factor(handle, factor, sum.scale)?;
            arguments.push(sum.element.factor(factor));
        }
        for (matrix, turned) in sum.matrices.iter().zip(turned) {
            arguments.push(matrix.packed(turned, if turned.0 { n } else { m })?);
        }
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let name = format!("geam_{}", sum.element.name());
        let grid = [rows.div_ceil(super::THREADS), columns.min(MOST_DOWN), 1];
        self.blas_launch(handle.stream, &name, grid, &arguments)
    }

    /// `y = alpha A x + beta y`.
    ///
    /// # Errors
    /// Sizes do not fit.
    pub fn blas_times_vector(
        &mut self,
        handle: Handle,
        element: Element,
        (turned, [rows, columns]): (i32, [i32; 2]),
        factors: [u64; 2],
        matrix: Matrix,
        vectors: [super::vector::Vector; 2],
    ) -> Outcome {
        let turned = Turned::of(turned)?;
        let (_, _) = (count(rows)?, count(columns)?);
        let (m, n) = if turned.0 {
            (columns, rows)
        } else {
            (rows, columns)
        };
        let mut arguments = vec![word(m), word(n)];
        for factor in factors {
            let factor = self.blas_factor(handle, factor, element)?;
            arguments.push(element.factor(factor));
        }
        arguments.push(matrix.packed(turned, rows)?);
        arguments.extend(vectors[0].packed(element, n)?);
        arguments.extend(vectors[1].packed(element, m)?);
        if m == 0 || n == 0 {
            return Ok(());
        }
        let blocks = if turned.0 { m } else { (m + 31) / 32 };
        let name = format!("gemv_{}", element.name());
        self.blas_launch(handle.stream, &name, [count(blocks)?, 1, 1], &arguments)
    }

    /// `A = alpha x y' + A`.
    ///
    /// # Errors
    /// Sizes do not fit.
    pub fn blas_outer(
        &mut self,
        handle: Handle,
        element: Element,
        [m, n]: [i32; 2],
        factor: u64,
        vectors: [super::vector::Vector; 2],
        matrix: Matrix,
    ) -> Outcome {
        let (rows, columns) = (count(m)?, count(n)?);
        let factor = self.blas_factor(handle, factor, element)?;
        let mut arguments = vec![word(m), word(n), element.factor(factor)];
        arguments.extend(vectors[0].packed(element, m)?);
        arguments.extend(vectors[1].packed(element, n)?);
        arguments.push(matrix.packed(Turned(false), m)?);
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let name = format!("ger_{}", element.name());
        let grid = [rows.div_ceil(super::THREADS), columns.min(MOST_DOWN), 1];
        self.blas_launch(handle.stream, &name, grid, &arguments)
    }
}
