//! Days on which something goes wrong.

mod damage;
mod database;
mod disk_full;
mod killed;
mod lock;
