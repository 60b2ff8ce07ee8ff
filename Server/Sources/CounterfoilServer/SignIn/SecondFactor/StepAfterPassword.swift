import CounterfoilStore

/// The next step of a sign-in after the right password.
enum StepAfterPassword: Sendable, Hashable {
    /// The session begins.
    case session
    /// The session begins in a browser that is remembered for the second factor.
    case rememberedSession(ArtefactDigest)
    /// The user enters a code.
    case code
    /// The user must set up a second factor first.
    case setup
    /// The user must choose another password first.
    case newPassword
    /// The user must sign in with a passkey, because the password alone does not suffice here.
    case passkey
    /// The second factor is lost, so the sign-in is refused.
    case refusal

    /// Decides the step; it reads no clock and no store.
    ///
    /// A user who has a passkey sets up nothing with the password alone: a thief of the password could do so, too.
    ///
    /// - Parameters:
    ///   - state: The second factor of the user.
    ///   - remembered: The second factor for which the browser is remembered; nil if it is not.
    ///   - isRequired: Whether the policy requires a second factor of the user.
    ///   - hasPasskey: Whether the user has a passkey.
    ///   - mustChange: Whether the user must choose another password, which needs the code itself.
    init(
        _ state: SecondFactorState, remembered: ArtefactDigest?, isRequired: Bool, hasPasskey: Bool,
        mustChange: Bool = false
    ) {
        self =
            switch state {
            case .lost: .refusal
            case .active(let factor, _):
                factor.digest == remembered && !mustChange ? .rememberedSession(factor.digest) : .code
            case .none:
                if isRequired && hasPasskey {
                    .passkey
                } else {
                    mustChange ? .newPassword : isRequired ? .setup : .session
                }
            }
    }
}
