#if !os(Windows)
    import CounterfoilPlatform

    /// A file or folder of another user, which keeps this user from the files of a program.
    ///
    /// A program that runs as root with the home directory of a user leaves such files there.
    package struct ForeignFile: Sendable, CustomStringConvertible {
        package let path: String
        private let owner: UInt32

        /// A file or folder that belongs to a user other than the effective user of this process.
        package init(path: String, owner: UInt32) {
            self.path = path
            self.owner = owner
        }

        /// Finds the first file or folder on the way to a path that belongs to another user; nil if there is none.
        ///
        /// Call it after a failure with `EACCES`.
        package init?(keepingFrom path: String) {
            var (path, facts) = (path, stat())
            while lstat(path, &facts) != 0 {
                guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
                path = String(path[..<slash])
            }
            guard facts.st_uid != geteuid() else { return nil }
            self.init(path: path, owner: facts.st_uid)
        }

        /// The path, its owner and the remedy, as a clause without a full stop.
        package var description: String { "\(path) \(reason)" }

        var error: TokenStoreError { .notPrivate(path: path, reason: reason) }

        /// The owner and the remedy, as the end of a clause that begins with the path.
        private var reason: String {
            let user = UserEntry.name(of: geteuid())
            let facts = "belongs to \(UserEntry.name(of: owner)), not to \(user)"
            guard geteuid() != 0 else { return "\(facts); run this program as that user, without sudo" }
            guard isInHome else { return facts }
            return "\(facts); if it is yours, run: sudo chown -R \(user) \(path.contains(" ") ? "'\(path)'" : path)"
        }

        /// Whether the path is below the home directory of the user, so that a change of its owner harms no other user.
        private var isInHome: Bool {
            guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/"), home != "/" else {
                return false
            }
            return path.hasPrefix(home.hasSuffix("/") ? home : "\(home)/")
        }
    }
#endif
