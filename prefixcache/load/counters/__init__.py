"""What servers count while a pass is measured: snapshots, gauges, KV events, residue."""
