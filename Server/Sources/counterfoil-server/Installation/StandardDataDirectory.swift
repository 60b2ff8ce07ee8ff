import Foundation

/// The data directory of commands without the setting `data-dir`.
enum StandardDataDirectory {
    /// The variable in which systemd passes the directory of `StateDirectory=`, and which the container image sets.
    private static let stateVariable = "STATE_DIRECTORY"

    /// Returns the directory of the service manager, or the usual place for the data of the user.
    ///
    /// The service manager names it in `STATE_DIRECTORY`, which counts if it is one absolute path. The usual place on
    /// Linux is `/var/lib/counterfoil` for root, and `$XDG_DATA_HOME/counterfoil-server` for other users, where
    /// `$XDG_DATA_HOME` is `~/.local/share` unless it is set. On macOS, it is in `Application Support`.
    ///
    /// - Throws: ``CommandFailure`` if the user has no home directory.
    static func path(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, isRoot: Bool = geteuid() == 0
    ) throws(CommandFailure) -> String {
        // With several directories, systemd separates them by colons.
        if let state = environment[stateVariable], state.hasPrefix("/"), !state.contains(":") { return state }
        func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        #if os(Linux)
            if isRoot { return "/var/lib/counterfoil" }
            if let data = folder("XDG_DATA_HOME") { return data + "/counterfoil-server" }
            let data = "/.local/share/counterfoil-server"
        #else
            let data = "/Library/Application Support/counterfoil-server"
            if isRoot { return data }
        #endif
        guard let home = folder("HOME") else {
            throw .usage(
                "This user has no home directory. Name the data directory with --data-dir or \(Settings.dataDir.variable)."
            )
        }
        return home + data
    }
}
