/// The reason why a web authentication session of Apple's systems ended without a callback.
enum WebAuthenticationFailure {
    /// Converts an error by its code in `ASWebAuthenticationSessionError` and the reason that the system gives for it.
    ///
    /// The system reports `canceledLogin` in two cases. If the user closed the page, the error contains no reason. If
    /// the app may not receive the callback, the reason says so: "Application with identifier … is not associated with
    /// domain …" if the entitlement or the association file is missing.
    static func error(code: Int, reason: String?) -> SignInError {
        let reason = reason.map(\.strippingControlCharacters).flatMap { $0.isEmpty ? nil : $0 }
        switch code {
        case canceledLogin: return reason.map { .cannotListen($0) } ?? .cancelled
        case presentationContextNotProvided, presentationContextInvalid: return noWindow
        default: return .cannotListen(reason ?? "the system did not show the page (error \(code))")
        }
    }

    /// The error if the app has no window over which the system can show the page.
    static let noWindow = SignInError.cannotListen("the app has no window to show the page in")

    private static let canceledLogin = 1
    private static let presentationContextNotProvided = 2
    private static let presentationContextInvalid = 3
}
