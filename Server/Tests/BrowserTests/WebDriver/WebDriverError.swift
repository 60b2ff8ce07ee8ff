/// The reason for a failed browser command.
enum WebDriverError: Error, CustomStringConvertible {
    /// A required program is missing.
    case notInstalled(String)
    /// The driver refused a command: the WebDriver error code and the first line of its message.
    case refused(command: String, code: String, message: String)
    /// A condition did not hold in time.
    case timedOut(String)
    /// The driver's response is not a WebDriver response.
    case notUnderstood(String)

    var description: String {
        switch self {
        case .notInstalled(let program):
            "\(program) is not installed (Debian: apt-get install chromium chromium-driver)"
        case .refused(let command, let code, let message): "\(command): \(code): \(message)"
        case .timedOut(let what): "waited in vain for \(what)"
        case .notUnderstood(let what): "not understood: \(what)"
        }
    }
}
