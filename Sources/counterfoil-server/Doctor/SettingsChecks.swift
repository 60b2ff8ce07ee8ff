import CounterfoilServer
import Foundation

extension ServerFindings {
    /// Reads the settings file of the command, and the files that it names, and notes its settings for the checks.
    ///
    /// Without a file, the checks use the settings of the server that last started or reloaded.
    mutating func readSettings(_ context: SettingsContext) async {
        guard let path = context.settings.path else { return }
        do {
            let missing = Self.missing(in: try SettingsFile(at: path), context.invocation.environment)
            guard missing.isEmpty else {
                return advise(
                    "settings-incomplete", "\(path) does not set \(missing.joined(separator: ", "))",
                    mend: "if options or variables of the server do, nothing; the checks use its last settings instead")
            }
            let invocation = CommandInvocation(
                ["serve", "--config", path], environment: context.invocation.environment)
            let resolved = try invocation.resolve()
            do {
                guard let command = try invocation.command(with: resolved) as? ServeCommand else { return }
                settings = try command.noted(in: path)
                _ = try await command.loadFiles()
            } catch let failure as CommandFailure {
                throw CommandFailure.refused(resolved.explained(failure.message))
            } catch {
                throw CommandFailure.refused(resolved.explanation(of: error)?.text ?? "\(error)")
            }
            sound("settings", "the settings in \(path) are valid")
        } catch {
            let message = (error as? CommandFailure)?.message ?? "\(error)"
            fault("settings-refused", saying: message, orElse: "correct the file; config check reads it again")
        }
    }

    /// Returns the names of the required settings that neither the file nor the environment sets.
    private static func missing(in file: SettingsFile, _ environment: [String: String]) -> [String] {
        Setting.all.filter { $0.isRequired && file.entries[$0.name] == nil && environment[$0.variable] == nil }
            .map(\.name)
    }

    /// Compares the settings of the file with those of the server that last started or reloaded.
    mutating func judgeSettings(_ settings: NotedSettings, inUse noted: NotedSettings) {
        let differences = settings.differences(from: noted)
        guard !differences.isEmpty else { return }
        let host = noted.host.map { $0 == settings.host ? "" : " on \($0)" } ?? ""
        advise(
            "settings-not-in-use",
            "the server\(host) that last started or reloaded has another value of \(differences.joined(separator: ", "))",
            mend: "restart or reload the server, unless its options or variables set the value")
    }
}
