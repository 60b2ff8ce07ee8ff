import Foundation

/// The places besides the command line in which settings can be: the environment and the settings file.
///
/// The environment of a process does not change. The file can be read again at any time.
struct SettingSources: Sendable {
    let environment: [String: String]
    let file: SettingsFile?

    /// The environment variable that names the settings file.
    ///
    /// `COUNTERFOIL_CONFIG` is the configuration file of the program `counterfoil`.
    static let variable = "COUNTERFOIL_SERVER_CONFIG"

    /// The settings file of the packages, and the user that they create.
    static let packaged = (path: "/etc/counterfoil/server.yaml", user: "counterfoil")

    /// Reads the settings file, if there is one.
    ///
    /// - Parameter option: The path in the option `--config`; nil without it.
    init(
        naming option: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) {
        self.environment = environment
        file = if let path = try Self.path(option, environment) { try SettingsFile(at: path) } else { nil }
    }

    /// Returns the path of the settings file; nil if none is named, and none is the standard one of this user.
    static func path(
        _ option: String?, _ environment: [String: String], user: String = NSUserName(),
        packagedPath: String = packaged.path
    ) throws(CommandFailure) -> String? {
        if let option { return option }
        if let path = environment[variable] {
            guard !path.isEmpty else {
                throw .refused("\(variable) cannot be empty; unset it, or name a settings file")
            }
            return path
        }
        return user == packaged.user && FileManager.default.fileExists(atPath: packagedPath) ? packagedPath : nil
    }
}
