//! Launch files, input generators, the kernel suite and its references.
