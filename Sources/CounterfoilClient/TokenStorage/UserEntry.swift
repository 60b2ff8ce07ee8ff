#if !os(Windows)
    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The entry of a user in the user database of the system (`passwd`).
    package struct UserEntry: Sendable {
        package let name: String
        package let homeDirectory: String

        /// Reads the entry of a user; nil if there is none.
        package init?(of user: UInt32) {
            var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            var buffer = [CChar](repeating: 0, count: 16 * 1024)
            let capacity = buffer.count
            guard getpwuid_r(user, &entry, &buffer, capacity, &found) == 0, found != nil, let name = entry.pw_name,
                let home = entry.pw_dir
            else { return nil }
            self.name = String(cString: name)
            homeDirectory = String(cString: home)
        }

        /// Returns the name of a user, or the number if the system has no name for it.
        package static func name(of user: UInt32) -> String { UserEntry(of: user)?.name ?? "the user \(user)" }
    }
#endif
