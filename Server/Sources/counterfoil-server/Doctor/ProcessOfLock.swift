#if os(Linux)
    import CoreFoundation
    import Foundation

    /// The process that holds the lock of a file, as `/proc` describes it.
    struct ProcessOfLock {
        let identifier: Int

        /// Finds the process that holds a lock of `flock(2)` on a file; returns nil if none does.
        init?(ofFileAt path: String) {
            guard let file = LockedFile(at: path),
                let table = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
            else { return nil }
            self.init(of: file, in: table)
        }

        /// Finds the process in the text of `/proc/locks`.
        init?(of file: LockedFile, in table: String) {
            // A line is: number, FLOCK, ADVISORY, WRITE, process, MAJOR:MINOR:INODE, start, end.
            let holders = table.split(separator: "\n").compactMap { line -> Int? in
                let fields = line.split(separator: " ")
                guard fields.count >= 6, fields[1] == "FLOCK", file.isNamed(by: fields[5]) else { return nil }
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

    /// A file as `/proc/locks` names it: by the device of its file system and its number there.
    struct LockedFile {
        let inode: UInt64
        /// The major and the minor number of the device; nil if the system does not say, and then only `inode` counts.
        ///
        /// They are those of the mount. On btrfs and some overlays, `stat(2)` has another device.
        let device: (major: Int, minor: Int)?

        /// Returns nil if the file is missing.
        init?(at path: String) {
            // O_PATH: no permission for the file is needed.
            let descriptor = open(path, 0o10_000_000 | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            inode = UInt64(status.st_ino)
            device = Self.device(ofFileOpenAs: descriptor)
        }

        private static func device(ofFileOpenAs descriptor: CInt) -> (major: Int, minor: Int)? {
            func lines(_ name: String) -> [[Substring]] {
                let text = try? String(contentsOfFile: "/proc/self/\(name)", encoding: .utf8)
                return (text ?? "").split(separator: "\n").map { line in line.split { $0 == " " || $0 == "\t" } }
            }
            // A line of mountinfo is: number, number of the parent, MAJOR:MINOR, and more.
            guard let mount = lines("fdinfo/\(descriptor)").first(where: { $0.first == "mnt_id:" })?.last,
                let line = lines("mountinfo").first(where: { $0.first == mount }), line.count > 2
            else { return nil }
            let numbers = line[2].split(separator: ":").map { Int($0) }
            guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
            return (major, minor)
        }

        /// Returns true if `MAJOR:MINOR:INODE`, the first two in hexadecimal, is this file.
        func isNamed(by text: some StringProtocol) -> Bool {
            let parts = text.split(separator: ":")
            guard parts.count == 3, UInt64(parts[2]) == inode else { return false }
            guard let device else { return true }
            return Int(parts[0], radix: 16) == device.major && Int(parts[1], radix: 16) == device.minor
        }
    }
#endif
