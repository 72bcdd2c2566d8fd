//! Each oracle sees a sound sequence and a broken one.
