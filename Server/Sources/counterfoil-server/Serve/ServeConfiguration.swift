import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The settings of a server, each of which is valid together with the others.
struct ServeConfiguration: Sendable {
    let values: SettingValues
    /// The settings of the protocol.
    let settings: ServerSettings

    /// Reads and checks all settings, but not the files that they name.
    ///
    /// - Parameters:
    ///   - options: The texts of the options of `serve`, by the names of the settings.
    ///   - sources: The other places.
    init(_ options: [String: [String]], _ sources: SettingSources) throws(CommandFailure) {
        for setting in Settings.options {
            // Such a variable would have no effect.
            guard let place = setting.administration, sources.environment[setting.variable] != nil else { continue }
            throw .refused("\(setting.variable) is no setting; set it at \(place)")
        }
        let texts = try SettingTexts(of: Settings.options, options: options, sources)
        for setting in Settings.all where setting.isRequired && texts.values[setting.name] == nil {
            throw Self.failure(forMissing: setting, in: texts.path)
        }
        values = try SettingValues(Settings.options, texts)
        do throws(SettingMistake) {
            settings = try values.serverSettings()
            try checkTLS()
            try checkOrders()
            try checkMail()
            try checkSignUp()
            try checkExternalSignIn()
            try checkLifetimes()
        } catch { throw texts.failure(error.message) }
        _ = try values.storeLocation
    }

    private static func failure(forMissing setting: any AnySetting, in path: String?) -> CommandFailure {
        if let path { return .refused("\(path): the setting \(setting.name) is missing") }
        return .usage(
            "the setting \(setting.name) is missing. Give --\(setting.name) or \(setting.variable), or name the settings "
                + "file with --config.")
    }

    subscript<Value>(setting: Setting<Value>) -> Value { values[setting] }

    /// Returns a message with the places that set the settings in it.
    var words: SettingMessageRenderer { { [texts = values.texts] in texts.words($0) } }

    /// The settings that administration commands need.
    var recorded: RecordedSettings {
        RecordedSettings(
            settings, connections: self[Settings.connections], sendsMail: self[Settings.mailSender] != nil, files: files
        )
    }

    /// The files outside of the data directory that the server uses.
    var files: RecordedSettings.Files {
        let paths: [RecordedSettings.File: String?] = [
            .endingsJournal: self[Settings.endingsJournal], .settings: values.texts.path,
            .tlsKey: self[Settings.tlsKey],
            .externalAccountKey: self[Settings.acmeKeyFile],
            .externalSignInKeys: self[Settings.externalSignInKeys],
            .mailCredentials: self[Settings.mailCredentialsFile], .serverKey: self[Settings.serverKeyFile],
        ]
        return paths.compactMapValues { $0 }.mapValues { URL(fileURLWithPath: $0).standardizedFileURL.path }
    }
}

extension SettingValues {
    /// Returns the settings of the protocol.
    fileprivate func serverSettings() throws(SettingMistake) -> ServerSettings {
        guard let issuer = self[Settings.issuer] else { throw SettingMistake("\(Settings.issuer) is missing.") }
        var settings = ServerSettings(
            issuer: issuer, siteName: self[Settings.siteName].map { DisplayName($0) },
            defaultAudience: self[Settings.defaultAudience])
        for setting in Settings.options { setting.apply(self, to: &settings) }
        if let text = self[Settings.callbackOrigin] {
            do { settings.callbackOrigin = try CallbackOrigin(text, issuer: issuer) } catch {
                throw SettingMistake("\(Settings.callbackOrigin) \(text): \(error).")
            }
        }
        return settings
    }
}
