#if os(Linux)
    import Foundation

    /// The process that holds the lock of a file, as `/proc` describes it.
    struct ProcessOfLock {
        let identifier: Int

        /// Finds the process that holds a lock of `flock(2)`; returns nil if none does.
        ///
        /// - Parameter inode: The number of the file; `/proc/locks` names files by device and this number.
        init?(inode: Int) {
            // A line is: number, FLOCK, ADVISORY, WRITE, process, MAJOR:MINOR:INODE, start, end.
            guard let table = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else { return nil }
            let holders = table.split(separator: "\n").compactMap { line -> Int? in
                let fields = line.split(separator: " ")
                guard fields.count >= 6, fields[1] == "FLOCK", fields[5].hasSuffix(":\(inode)") else { return nil }
                return Int(fields[4])
            }
            guard let holder = holders.first(where: { $0 > 0 }) else { return nil }
            identifier = holder
        }

        /// The number of open files; nil if this user cannot read it.
        var openFiles: Int? { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd"))?.count }

        /// The soft limit of open files; nil if this user cannot read it.
        var openFilesLimit: Int? {
            guard let text = try? String(contentsOfFile: "/proc/\(identifier)/limits", encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") })
            else { return nil }
            let fields = line.split(separator: " ")
            return fields.count > 3 ? Int(fields[3]) ?? .max : nil
        }
    }
#endif
