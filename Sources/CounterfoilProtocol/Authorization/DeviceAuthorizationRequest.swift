/// A request to the device authorization endpoint (RFC 8628 §3.1).
///
/// The value does not contain the client. Client authentication, which reads the same HTTP request, identifies the
/// client. Parsing checks only the syntax of the parameters.
public struct DeviceAuthorizationRequest: Sendable, Hashable {
    /// The scope that the client requests (parameter `scope`); nil if omitted.
    public var scope: Scope?
    /// The PKCE challenge (parameters `code_challenge` and `code_challenge_method`); nil if both are omitted.
    ///
    /// RFC 8628 does not define it. A device that sends a challenge must send the verifier with each token request.
    public var presentedChallenge: PresentedChallenge?
    /// The name of the device (parameter `device_name`, an extension); nil if omitted.
    ///
    /// The user sees it in the list of sign-ins. Parsing truncates the value to 320 bytes.
    public var deviceName: String?
    /// The APIs for which the client requests tokens (parameter `resource`, RFC 8707 §2.1); empty if omitted.
    public var resources: [Resource]

    /// Parses the body of a device authorization request; the parameters of client authentication are ignored.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        scope = try values.scope()
        presentedChallenge = try AuthorizationRequest.presentedChallenge(values)
        deviceName = try values.deviceName()
        resources = try form.resources()
    }
}
