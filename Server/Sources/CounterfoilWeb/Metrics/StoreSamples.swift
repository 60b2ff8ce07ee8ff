import CounterfoilServer
import CounterfoilStore
import Foundation

extension MetricsText {
    /// Writes the durations, faults, batches and sizes of the store.
    mutating func write(_ store: StoreMeasurements) {
        let kind = [("store", store.kind.rawValue)]
        family(
            "counterfoil_store_operation_duration_seconds", .histogram,
            "Duration of reads and commits of the store, with the time of waiting, failed ones included.")
        for operation in StoreMeter.Operation.allCases {
            guard let uses = store.uses[operation] else { continue }
            sample(
                "counterfoil_store_operation_duration_seconds", kind + [("operation", operation.rawValue)],
                uses.durations)
        }
        family("counterfoil_store_faults_total", .counter, "Reads and commits of the store that failed, by fault.")
        for operation in StoreMeter.Operation.allCases {
            for fault in StoreMeter.Fault.allCases {
                sample(
                    "counterfoil_store_faults_total",
                    kind + [("operation", operation.rawValue), ("fault", fault.rawValue)],
                    store.uses[operation]?.faults[fault] ?? 0)
            }
        }
        family(
            "counterfoil_store_operations_waiting", .gauge,
            "Commits that wait for the writer of the file, or requests that wait for a connection to the database.")
        sample("counterfoil_store_operations_waiting", kind, store.waiting)
        if let sizes = store.batchSizes {
            family("counterfoil_store_batch_size", .histogram, "Commits that share one transaction.")
            sample("counterfoil_store_batch_size", kind, sizes)
        }
        if let connections = store.connections {
            gauge("counterfoil_store_connections", "Open connections to the database.", connections.open)
            gauge("counterfoil_store_connections_limit", "Limit of connections to the database.", connections.limit)
        }
        if let files = store.files {
            gauge("counterfoil_store_file_bytes", "Size of the database file, without its WAL.", files.database)
            gauge("counterfoil_store_wal_bytes", "Size of the write-ahead log (WAL) of the file.", files.writeAheadLog)
        }
    }

    /// Writes the size of a database, and the space within a file that is free for new records.
    mutating func write(_ space: StoreSpace) {
        gauge("counterfoil_store_database_bytes", "Size of the database. \(Self.ofStore)", space.database)
        if let bytes = space.free {
            gauge(
                "counterfoil_store_database_free_bytes",
                "Space in the database that deleted records have left, and that new ones use first.", bytes)
        }
    }

    /// Writes the number of settings that the servers on a database have differently.
    mutating func write(differingSettings count: Int) {
        gauge(
            "counterfoil_settings_differ",
            "Settings that have not the same value at every server on the database. \(Self.ofStore)", count)
    }

    /// Writes the number of password hashes in progress, and of those that wait.
    mutating func write(passwordHashes load: BoundedQueue.Load) {
        gauge("counterfoil_password_hashes_running", "Password hashes in progress.", load.running)
        gauge("counterfoil_password_hashes_waiting", "Password hashes that wait for a core.", load.waiting)
        gauge(
            "counterfoil_password_hashes_waiting_limit",
            "Limit of waiting password hashes; further sign-ins get status 429.", load.capacity)
    }

    /// Writes the time since which the current signing keys sign, and the lifetime of a key.
    mutating func write(signingKeys keys: (since: [(algorithm: String, time: Date)], lifetime: Int)) {
        let name = "counterfoil_signing_key_start_timestamp_seconds"
        family(name, .gauge, "Time since which the current signing key of an algorithm signs. \(Self.ofStore)")
        for key in keys.since {
            sample(name, [("algorithm", key.algorithm)], Int(key.time.timeIntervalSince1970))
        }
        gauge(
            "counterfoil_signing_key_lifetime_seconds", "Time after which a signing key is replaced.", keys.lifetime)
    }

    /// Writes the time of the last finished backup.
    mutating func write(lastBackup time: Date) {
        gauge(
            "counterfoil_backup_last_success_timestamp_seconds", "Time at which the last backup was finished.",
            Int(time.timeIntervalSince1970))
    }

    /// Writes the space on the file system of the data directory.
    mutating func write(directory: String) {
        write(fileSystemOf: directory, as: "counterfoil_filesystem", "the data directory")
    }

    /// Writes the size of the endings journal with its former files, and the space on their file system.
    mutating func write(filesOfEndingsJournal path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let files = try? JournalFiles.all(of: path) else { return }
        let sizes = files.compactMap { file in
            ((try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? NSNumber)?.intValue
        }
        gauge(
            "counterfoil_endings_journal_bytes", "Size of the endings journal with its former files.",
            sizes.reduce(0, +))
        write(fileSystemOf: folder, as: "counterfoil_endings_journal_filesystem", "the endings journal")
    }

    private mutating func write(fileSystemOf directory: String, as name: String, _ owner: String) {
        var system = statvfs()
        guard statvfs(directory, &system) == 0 else { return }
        let unit = Int(system.f_frsize)
        gauge(
            name + "_avail_bytes", "Space on the file system of \(owner) that this user can use.",
            Int(system.f_bavail) * unit)
        gauge(name + "_size_bytes", "Size of the file system of \(owner).", Int(system.f_blocks) * unit)
    }
}
