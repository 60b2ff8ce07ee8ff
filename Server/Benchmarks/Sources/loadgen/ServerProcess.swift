import Foundation

/// The server under load with all its descendants, read from `/proc`.
struct ServerProcess: Sendable {
    private let members: [Int]
    private let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// Finds every current descendant of the process.
    init(root: Int) {
        var children: [Int: [Int]] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = Int(name), let fields = Self.status(of: process), let parent = Int(fields[1]) else {
                continue
            }
            children[parent, default: []].append(process)
        }
        var members = [root]
        var index = 0
        while index < members.count {
            members += children[members[index]] ?? []
            index += 1
        }
        self.members = members
    }

    /// The processor time used so far, in seconds.
    var processorSeconds: Double {
        members.reduce(0) { sum, process in
            guard let fields = Self.status(of: process) else { return sum }
            // `utime`, `stime`, and the same times of children that have ended.
            return sum + fields[11...14].reduce(0) { $0 + (Double($1) ?? 0) } / ticksPerSecond
        }
    }

    /// The current resident memory, in MiB.
    var residentMiB: Double {
        members.reduce(0) { sum, process in
            guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8),
                let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
            else { return sum }
            return sum + pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
        }
    }

    /// Reads the fields of `/proc/PID/stat` that follow the name of the program.
    private static func status(of process: Int) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 15 ? fields : nil
    }
}
