#if !os(Windows)
    import Foundation

    /// The directory for data that outlives a process.
    enum UserDataDirectory {
        /// `$XDG_DATA_HOME/counterfoil`, or without that variable `~/.local/share/counterfoil`.
        static func url(environment: [String: String]) -> URL {
            // A relative value is ignored, as the XDG Base Directory Specification says.
            if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
                return URL(fileURLWithPath: path, isDirectory: true)
                    .appendingPathComponent("counterfoil", isDirectory: true)
            }
            let home = environment["HOME"].flatMap {
                $0.hasPrefix("/") ? URL(fileURLWithPath: $0, isDirectory: true) : nil
            }
            return (home ?? URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true))
                .appendingPathComponent(".local/share/counterfoil", isDirectory: true)
        }
    }
#endif
