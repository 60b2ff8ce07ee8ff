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
    /// `server.yaml, line 3: listen x: must be …`, or `COUNTERFOIL_LISTEN x: must be …`.
    ///
    /// - Returns: The message; nil if it names nothing from the file or the environment.
    func explanation(of message: String) -> Explanation? {
        guard !message.hasPrefix("Unknown option") else { return nil }
        var prefix: String?
        var isRewritten = false
        let text = message.replacing(/--([a-z0-9][a-z0-9\-]*)/) { match in
            let setting = String(match.output.1)
            guard let origin = values[setting]?.origin, origin != .option else {
                return String(match.output.0)
            }
            isRewritten = true
            prefix = prefix ?? place(of: origin)
            return name(of: setting, from: origin)
        }
        guard isRewritten else { return nil }
        return Explanation(text: (prefix ?? "") + text, isInFile: prefix != nil)
    }
}
