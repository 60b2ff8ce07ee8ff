import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform

// The configuration file contains the options of the last sign-in of each profile, so that the next one needs only the
// profile name.
extension Login {
    /// The options of this command that the configuration file can contain.
    ///
    /// The paths of files are absolute, because the next sign-in may start in another directory.
    var settings: LoginSettings {
        var settings = LoginSettings(self)
        settings.clientSecretFile = settings.clientSecretFile.map(Self.absolutePath)
        settings.clientKey = settings.clientKey.map(Self.absolutePath)
        return settings
    }

    private static func absolutePath(_ path: String) -> String { URL(fileURLWithPath: path).path }

    /// Returns the command with the options that the configuration file contains for its profile.
    ///
    /// An option of the command line takes precedence. If the command line names a server, a vendor or an API, no
    /// option of the file is used.
    func completed(from file: ConfigurationFile) throws -> Login {
        guard !settings.namesServer else { return self }
        guard let remembered = try file.read().logins[common.profile], remembered != LoginSettings() else {
            return self
        }
        var login = self
        remembered.complete(&login)
        do {
            try login.asked.clientAuthentication.validate()
            try login.asked.validate()
            try login.validate()
        } catch {
            let place = "the options of the profile \(common.profile) in \(file.path) cannot be used"
            throw Failure(.usage, "\(place): \(Login.message(for: error))")
        }
        common.console.say("Using the options of the profile \(common.profile) in \(file.path).")
        return login
    }

    /// Stores the options of a sign-in that succeeded for the next sign-in with the same profile.
    func remember(in file: ConfigurationFile) {
        do { try file.update { $0.logins[common.profile] = settings } } catch {
            common.console.say("The options were not stored for the next sign-in: \(error.sentence).")
        }
    }
}
