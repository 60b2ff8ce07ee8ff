// Windows and scenes of iOS.

@_exported import Foundation

@MainActor open class UIResponder: NSObject {
    public nonisolated override init() {}
}

@MainActor open class UIView: UIResponder {}

@MainActor open class UIWindow: UIView {
    public nonisolated override init() {}
    public convenience init(windowScene: UIWindowScene) { self.init() }
    open var isKeyWindow: Bool { false }
    open var windowScene: UIWindowScene?
}

@MainActor open class UIScene: UIResponder {
    public enum ActivationState: Int, Sendable {
        case unattached = -1
        case foregroundActive = 0
        case foregroundInactive = 1
        case background = 2
    }

    open var activationState: ActivationState { .unattached }
}

@MainActor open class UIWindowScene: UIScene {
    @available(iOS 15.0, *)
    open var keyWindow: UIWindow? { nil }
    open var windows: [UIWindow] { [] }
}

@MainActor open class UIApplication: UIResponder {
    open class var shared: UIApplication { UIApplication() }
    open var connectedScenes: Set<UIScene> { [] }
    open func canOpenURL(_ url: URL) -> Bool { false }
}
