use std::time::Instant;
fn main() {
    let mut a = std::env::args().skip(1);
    let data = std::path::PathBuf::from(a.next().unwrap());
    let t = Instant::now();
    let store = store::Store::open(&data, collector::mappers()).unwrap();
    let importer = collector::Importer::new(store.clone());
    let mut bytes = 0;
    for p in a {
        for f in collector::files_below(std::path::Path::new(&p), &mut |_, e| println!("{e}")) {
            bytes += f.bytes;
            importer.import(&f.path, &mut |_| {}).unwrap();
        }
    }
    let read = t.elapsed();
    store.wait_until_projected(store.journal().last()).unwrap();
    let all = t.elapsed();
    let list = store.sessions(&Default::default(), agent_core::Timestamp::now()).unwrap();
    let (mut turns, mut tools, mut failed, mut inter, mut comp, mut i, mut cr, mut cw, mut o) = (0,0,0,0,0,0,0,0,0);
    for s in &list.sessions {
        turns += s.model_calls; tools += s.tool_calls; failed += s.failed_tool_calls; inter += s.interrupts; comp += s.compactions;
        i += s.uncached_input_tokens.unwrap_or(0); cr += s.cache_read_tokens.unwrap_or(0); cw += s.cache_write_tokens().unwrap_or(0); o += s.output_tokens.unwrap_or(0);
    }
    println!("sessions {} responses {turns} tool_calls {tools} failed {failed} interrupts {inter} compactions {comp} in {i} cr {cr} cw {cw} out {o}", list.sessions.len());
    println!("read {read:?} all {all:?} {:.1} MB/s  {:?}", bytes as f64 / 1e6 / all.as_secs_f64(), store.report().unwrap());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().filter(|l| l.starts_with("VmHWM")).collect::<String>());
}
