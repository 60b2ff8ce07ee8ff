#if !os(Windows)
    import CounterfoilPlatform

    /// The user's directory for data that this library keeps from one run of an app to the next.
    package enum UserDataDirectory {
        /// Returns `$XDG_DATA_HOME/APPLICATION/counterfoil`.
        ///
        /// If the variable is not set, `~/.local/share` takes its place. On Apple platforms that is
        /// `~/Library/Application Support`, because an app on iOS cannot write to the former. For the command line
        /// `counterfoil`, the directory is `$XDG_DATA_HOME/counterfoil`.
        static func url(of application: ApplicationIdentifier, environment: [String: String]) -> URL {
            let base = base(environment)
            return application == .commandLine
                ? base.appendingPathComponent("counterfoil", isDirectory: true)
                : base.appendingPathComponent("\(application)/counterfoil", isDirectory: true)
        }

        private static func base(_ environment: [String: String]) -> URL {
            // A relative value is ignored, as the XDG Base Directory Specification says.
            if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
                return URL(fileURLWithPath: path, isDirectory: true)
            }
            return URL(fileURLWithPath: homeDirectory(environment), isDirectory: true)
                .appendingPathComponent(folder, isDirectory: true)
        }

        /// Returns `$HOME`, or the home directory in the user database if the variable contains no absolute path.
        package static func homeDirectory(_ environment: [String: String]) -> String {
            [environment["HOME"], UserEntry(of: geteuid())?.homeDirectory].compactMap(\.self)
                .first { $0.hasPrefix("/") } ?? URL.homeDirectory.path
        }

        #if canImport(Darwin)
            private static let folder = "Library/Application Support"
        #else
            private static let folder = ".local/share"
        #endif
    }
#endif
