/// Why a command to the browser failed.
enum WebDriverError: Error, CustomStringConvertible {
    /// A program that the tests need is missing.
    case notInstalled(String)
    /// The driver refused a command: WebDriver's error code and the first line of its message.
    case refused(command: String, code: String, message: String)
    /// Something did not come to pass in time.
    case timedOut(String)
    /// The driver answered with something else than WebDriver.
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
