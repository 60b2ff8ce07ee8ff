import CounterfoilServer
import Foundation

extension MetricsText {
    /// Writes the version and uptime of this process, and what it uses of the machine.
    ///
    /// The names are those of Prometheus' own clients. Values that the system does not have in `/proc` are absent.
    mutating func writeProcess(uptime: Double) {
        family("counterfoil_build_info", .gauge, "Version of the server.")
        sample("counterfoil_build_info", [("version", Build.version)], 1)
        gauge("counterfoil_uptime_seconds", "Time since the start of the server.", uptime)
        if let seconds = ProcessUse.processorSeconds {
            family("process_cpu_seconds_total", .counter, "Processor time.")
            sample("process_cpu_seconds_total", [], seconds)
        }
        if let bytes = ProcessUse.residentBytes {
            gauge("process_resident_memory_bytes", "Memory of the process in RAM.", bytes)
        }
        if let count = ProcessUse.openDescriptors { gauge("process_open_fds", "Open file descriptors.", count) }
        if let limit = ProcessUse.descriptorLimit { gauge("process_max_fds", "Limit of file descriptors.", limit) }
        if let time = ProcessUse.start {
            gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.", time)
        }
    }
}

/// The resources of the machine that this process uses.
private enum ProcessUse {
    static var processorSeconds: Double? {
        var usage = rusage()
        guard getrusage(.ourself, &usage) == 0 else { return nil }
        return usage.ru_utime.seconds + usage.ru_stime.seconds
    }

    /// The second number in `/proc/self/statm`, in pages.
    static var residentBytes: Int? {
        guard let pages = text(of: "/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return pages * Int(sysconf(CInt(_SC_PAGESIZE)))
    }

    static var openDescriptors: Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // The entries "." and "..", and the descriptor of the directory itself.
        return count - 3
    }

    /// The soft limit.
    static var descriptorLimit: Int? {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    #if canImport(Glibc)
        private static var openFiles: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
        private static var openFiles: CInt { RLIMIT_NOFILE }
    #endif

    /// The time of the start, in seconds since 1970.
    static let start: Double? = {
        // The name of the program in parentheses can contain anything; the 22nd value is the time since the boot.
        guard let values = text(of: "/proc/self/stat")?.split(separator: ")").last?.split(separator: " "),
            values.count > 19, let ticks = Double(values[19]), let boot
        else { return nil }
        return boot + ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
    }()

    /// The time of the boot, in seconds since 1970.
    ///
    /// `/proc/stat` has it, too, but not for a service with `ProcSubset=pid`.
    private static var boot: Double? {
        #if os(Linux)
            // The members of `timespec`, which are visible only with a module that cannot be imported here.
            var sinceBoot: (seconds: Int, nanoseconds: Int) = (0, 0)
            let result = withUnsafeMutablePointer(to: &sinceBoot) { pointer in
                pointer.withMemoryRebound(to: timespec.self, capacity: 1) { clock_gettime(CLOCK_BOOTTIME, $0) }
            }
            guard result == 0 else { return nil }
            return Date().timeIntervalSince1970 - Double(sinceBoot.seconds) - Double(sinceBoot.nanoseconds) / 1e9
        #else
            return nil
        #endif
    }

    private static func text(of path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
}

extension Int32 {
    fileprivate static var ourself: Int32 { 0 }
}
