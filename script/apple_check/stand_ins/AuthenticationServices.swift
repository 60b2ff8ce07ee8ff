// The web authentication session of iOS and macOS.

@_exported import Foundation

#if os(iOS)
    @_exported import UIKit
    public typealias ASPresentationAnchor = UIWindow
#else
    @_exported import AppKit
    public typealias ASPresentationAnchor = NSWindow
#endif

// The SDK of Xcode 16 isolates the protocol to the main actor on some systems, and earlier ones do not.
#if NONISOLATED_PROVIDER
    @available(macOS 10.15, iOS 13.0, *)
    public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
    }
#else
    @available(macOS 10.15, iOS 13.0, *)
    @MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
    }
#endif

@available(macOS 10.15, iOS 12.0, *)
open class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    @available(macOS 14.4, iOS 17.4, *)
    open class Callback: NSObject {
        public class func customScheme(_ customScheme: String) -> Self { preconditionFailure() }
        public class func https(host: String, path: String) -> Self { preconditionFailure() }
        open func matchesURL(_ url: URL) -> Bool { false }
    }

    public init(url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}

    @available(macOS 14.4, iOS 17.4, *)
    public init(url: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}

    @available(iOS 13.0, *)
    open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    @available(iOS 13.0, *)
    open var prefersEphemeralWebBrowserSession: Bool = false
    @available(iOS 13.4, *)
    open var canStart: Bool { false }
    @available(macOS 14.4, iOS 17.4, *)
    open var additionalHeaderFields: [String: String]? {
        get { nil }
        set {}
    }

    @discardableResult
    open func start() -> Bool { false }
    open func cancel() {}
}

public struct ASWebAuthenticationSessionError: Error, CustomNSError {
    public enum Code: Int, Sendable {
        case canceledLogin = 1
        case presentationContextNotProvided = 2
        case presentationContextInvalid = 3
    }

    public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
    public let code: Code
    public static var errorDomain: String { "com.apple.AuthenticationServices.WebAuthenticationSession" }
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] { [:] }
}
