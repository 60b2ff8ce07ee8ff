// The context of an authentication by face, finger or passcode.

public import Foundation

open class LAContext: NSObject, @unchecked Sendable {
    open var localizedReason: String = ""
    open var interactionNotAllowed: Bool = false
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval = 0
    open func invalidate() {}
}
