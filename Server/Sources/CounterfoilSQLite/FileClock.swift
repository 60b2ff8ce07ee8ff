import CounterfoilSQL
import CounterfoilStore
import Foundation
import GRDB

/// The clock of a store in a file: the wall-clock time at which it was opened, and from then on the steady clock of the
/// machine.
///
/// While a server runs, its heartbeats tell what its clock shows. A store that another process opens meanwhile follows
/// that clock, even if the wall clock was set since the server started.
struct FileClock: Sendable {
    /// What a heartbeat leaves in the file: how to compute the time of the server from the steady clock.
    struct Mark: Sendable, Hashable {
        /// The identifier of the boot whose steady clock counts.
        let boot: String
        /// What the steady clock showed at the heartbeat, in microseconds.
        let beat: Int64
        /// The time of the server when the steady clock showed 0, in microseconds since 1970.
        let origin: Int64

        /// Whether the server was running a moment ago, and the mark is not damaged.
        fileprivate func isRecent(at elapsed: Int64) -> Bool {
            let silence = Int64(ServiceRecord.silenceLimit * 1_000_000)
            return (elapsed - silence...elapsed).contains(beat) && (0...Int64.max / 2).contains(origin)
        }
    }

    /// The time when the steady clock showed 0, in microseconds since 1970.
    private let origin: Int64

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - mark: The mark of the last heartbeat, if there is one. The clock follows that server while it runs.
    ///   - start: The time with which the clock begins instead; nil for the wall clock if no server runs.
    init(following mark: Mark?, orFrom start: Date?) {
        let elapsed = SteadyTime.microseconds
        if start == nil, let mark, mark.boot == SteadyTime.boot, mark.isRecent(at: elapsed) {
            origin = mark.origin
        } else {
            origin = (start ?? Date()).microseconds - elapsed
        }
    }

    var now: Date { Date(microseconds: origin + SteadyTime.microseconds) }

    /// The mark of a heartbeat now; nil if the system does not identify its boots.
    var mark: Mark? {
        SteadyTime.boot.map { boot in Mark(boot: boot, beat: SteadyTime.microseconds, origin: origin) }
    }
}

/// The clock of the machine that counts from its boot, also while it sleeps, and cannot be set.
private enum SteadyTime {
    /// The time since the boot in microseconds.
    static var microseconds: Int64 {
        #if canImport(Darwin)
            let clock = CLOCK_MONOTONIC_RAW
        #else
            let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// The identifier of the boot, which all processes of the machine see; nil if the system has none.
    static let boot: String? = {
        #if canImport(Darwin)
            var size = 0
            guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
            guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
                return nil
            }
            // The steady clock of a container can have an offset, in a time namespace of its own.
            let namespace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/time")
            return text.trimmingCharacters(in: .whitespacesAndNewlines) + (namespace.map { " " + $0 } ?? "")
        #endif
    }()
}
