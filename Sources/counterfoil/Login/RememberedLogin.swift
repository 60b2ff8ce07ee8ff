import ArgumentParser
import CounterfoilClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The configuration file contains the options of the last sign-in of each profile, so that the next one needs only the
// profile name.
extension Login {
    /// The options of this command that the configuration file can contain.
    ///
    /// The paths of files are absolute, because the next sign-in may start in another directory.
    var settings: LoginSettings {
        let authentication = asked.clientAuthentication
        var settings = LoginSettings()
        settings[text: "issuer"] = issuer
        settings[text: "vendor"] = asked.vendor
        settings[text: "client-id"] = asked.clientID
        settings[text: "client-metadata"] = asked.clientMetadata
        settings[list: "scope"] = asked.scope
        settings[list: "resource"] = asked.resource
        settings[list: "api"] = api
        settings[text: "grant"] = grant?.rawValue
        settings[flag: "dpop"] = asked.dpop
        settings[text: "client-secret-file"] = authentication.secretFile.map(Self.absolutePath)
        settings[text: "client-key"] = authentication.keyFile.map(Self.absolutePath)
        settings[text: "client-key-id"] = authentication.keyID
        settings[text: "client-key-algorithm"] = authentication.keyAlgorithm
        settings[text: "assertion-audience"] = authentication.assertionAudience?.rawValue
        settings[text: "par"] = asked.par?.rawValue
        settings[list: "parameter"] = asked.parameter
        settings[list: "trusted-audience"] = asked.trustedAudience
        settings[flag: "assume-pkce"] = asked.assumesPKCE
        settings[text: "redirect-uri"] = redirectURI
        settings[text: "browser"] = browser?.rawValue
        settings[flag: "device"] = device
        settings[text: "login-hint"] = loginHint
        return settings
    }

    private static func absolutePath(_ path: String) -> String { URL(fileURLWithPath: path).path }

    /// Returns the command with the options that the configuration file contains for its profile.
    ///
    /// An option of the command line takes precedence. If the command line names a server, a vendor or an API, no
    /// option of the file is used.
    func completed(from file: ConfigurationFile) throws -> Login {
        guard !settings.namesServer else { return self }
        guard var remembered = try file.read().logins[common.profile], !remembered.isEmpty else { return self }
        if asked.clientAuthentication.hasSecret { remembered = remembered.withoutClientAuthentication }
        var login: Login
        do {
            login = try Login.parse(remembered.replaced(by: settings).arguments)
            login.common = common
            login.prompt = prompt
            login.timeout = timeout
            login.deviceOutput = deviceOutput
            login.asked.clientAuthentication.secretDescriptor = asked.clientAuthentication.secretDescriptor
            login.asked.clientAuthentication.secretFromStandardInput =
                asked.clientAuthentication.secretFromStandardInput
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
