#if !os(Windows)
    import Foundation

    /// The user's directory for data that this library keeps from one run of an app to the next.
    enum UserDataDirectory {
        /// Returns `$XDG_DATA_HOME/counterfoil`, or `~/.local/share/counterfoil` if the variable is not set.
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
