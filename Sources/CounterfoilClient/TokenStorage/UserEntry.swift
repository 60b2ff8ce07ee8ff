#if !os(Windows)
    import CounterfoilPlatform

    /// The entry of a user in the user database of the system (`passwd`).
    package struct UserEntry: Sendable {
        package let name: String
        package let homeDirectory: String

        /// Reads the entry of a user; nil if there is none.
        package init?(of user: UInt32) {
            let entry = UnsafeMutablePointer<passwd>.allocate(capacity: 1)
            defer { entry.deallocate() }
            var found: UnsafeMutablePointer<passwd>?
            var buffer = [CChar](repeating: 0, count: 16 * 1024)
            let capacity = buffer.count
            // The strings of the entry are in the buffer.
            let texts: (name: String, home: String)? = buffer.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress, getpwuid_r(user, entry, start, capacity, &found) == 0,
                    let result = found?.pointee
                else { return nil }
                let (name, home): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) =
                    (result.pw_name, result.pw_dir)
                guard let name, let home else { return nil }
                return (String(cString: name), String(cString: home))
            }
            guard let texts else { return nil }
            (name, homeDirectory) = texts
        }

        /// Returns the name of a user, or the number if the system has no name for it.
        package static func name(of user: UInt32) -> String { UserEntry(of: user)?.name ?? "the user \(user)" }
    }
#endif
