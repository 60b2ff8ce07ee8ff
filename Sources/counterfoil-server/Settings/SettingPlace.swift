import ArgumentParser
import Foundation

extension ResolvedSettings {
    /// The name of a setting in the place that sets it.
    private func name(of setting: String, from origin: Origin) -> String {
        switch origin {
        case .option: "--\(setting)"
        case .environment: Setting.named[setting]?.variable ?? setting
        case .file: setting
        }
    }

    /// The place that sets a setting, for an error message; nil for an option and for a setting that is not set.
    private func place(of origin: Origin) -> String? {
        guard case .file(let line) = origin, let path else { return nil }
        return "\(path), line \(line): "
    }

    /// An error message that names the place in which a setting is wrong.
    struct Explanation {
        let text: String
        /// Whether the mistake is in the settings file.
        let isInFile: Bool
    }

    /// Rewrites an error message about options for the places that set them.
    ///
    /// An option has one validation with one text for all places: `--listen x: must be …` becomes
    /// `server.yaml, line 3: listen x: must be …`, or `COUNTERFOIL_LISTEN x: must be …`. A setting that is not set has
    /// the form of the first one that is.
    ///
    /// - Returns: The message; nil if it names nothing from the file or the environment, and says what is right.
    func explanation(of message: String) -> Explanation? {
        guard !message.hasPrefix("Unknown option") else { return nil }
        let given = message
        let message = isOfServer ? SettingForm.explained(given) : given
        let option = /--([a-z0-9][a-z0-9\-]*)/
        let origins = message.matches(of: option).compactMap { values[String($0.output.1)]?.origin }
            .filter { $0 != .option }
        guard let first = origins.first else {
            return message == given ? nil : Explanation(text: message, isInFile: false)
        }
        let prefix = origins.lazy.compactMap { place(of: $0) }.first
        // A setting that is missing belongs beside the one that requires it.
        let other = origins.first { place(of: $0) != nil } ?? first
        let text = message.replacing(option) { match in
            let setting = String(match.output.1)
            guard Setting.named[setting] != nil else { return String(match.output.0) }
            return name(of: setting, from: values[setting]?.origin ?? other)
        }
        return Explanation(text: (prefix ?? "") + text, isInFile: prefix != nil)
    }

    /// Explains an error of the parser; nil as for a message, or if the command line is not wrong.
    func explanation(of error: any Error) -> Explanation? {
        guard CounterfoilServerCommand.exitCode(for: error) == .validationFailure else { return nil }
        return explanation(of: CounterfoilServerCommand.message(for: error))
    }

    /// Returns an error message for the places that set the settings that it names.
    func explained(_ message: String) -> String { explanation(of: message)?.text ?? message }
}
