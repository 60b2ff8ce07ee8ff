import CounterfoilServer
import Foundation

extension ServerFindings {
    /// Reads the settings file of the command, and the files that it names, and notes its settings for the checks.
    ///
    /// Without a file, the checks use the settings of the server that last started or reloaded.
    mutating func readSettings(_ sources: SettingSources) async {
        guard let file = sources.file else { return }
        let missing = Settings.all.filter { setting in
            setting.isRequired && file.entries[setting.name] == nil && sources.environment[setting.variable] == nil
        }
        guard missing.isEmpty else {
            return advise(
                "settings-incomplete", "\(file.path) does not set \(missing.map(\.name).joined(separator: ", "))",
                mend: "if options or variables of the server do, nothing; the checks use its last settings instead")
        }
        do {
            let configuration = try ServeConfiguration([:], sources)
            settings = configuration.recorded
            _ = try await configuration.loadFiles()
            sound("settings", "the settings in \(file.path) are valid")
        } catch {
            let message = (error as? CommandFailure)?.message ?? "\(error)"
            fault("settings-refused", saying: message, orElse: "correct the file; config check reads it again")
        }
    }

    /// Compares the settings of the file with those of the server that last started or reloaded.
    mutating func judgeSettings(_ settings: RecordedSettings, inUse recorded: RecordedSettings) {
        let differences = settings.differences(from: recorded)
        guard !differences.isEmpty else { return }
        let host = recorded.host.map { $0 == settings.host ? "" : " on \($0)" } ?? ""
        advise(
            "settings-not-in-use",
            "the server\(host) that last started or reloaded has another value of \(differences.joined(separator: ", "))",
            mend: "restart or reload the server, unless its options or variables set the value")
    }
}
