using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// Typed access to members and constructors, bound at run time: a few generated instructions each, so that nothing is boxed.
/// Where the runtime cannot generate code, <see cref="ReflectedAccessors"/> gives the access.
/// </summary>
internal static class Accessors
{
    [RequiresUnreferencedCode("Uses members by reflection.")]
    public static Getter<TOwner, TMember> Getter<TOwner, TMember>(MemberInfo member)
    {
        if (!RuntimeFeature.IsDynamicCodeSupported) return ReflectedAccessors.Getter<TOwner, TMember>(member);
        DynamicMethod method = Method("get", typeof(TMember), typeof(TOwner).MakeByRefType());
        ILGenerator il = method.GetILGenerator();
        LoadOwner(il, typeof(TOwner));
        if (member is FieldInfo field) il.Emit(OpCodes.Ldfld, field);
        else Call(il, ((PropertyInfo)member).GetMethod!);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Getter<TOwner, TMember>>();
    }

    [RequiresUnreferencedCode("Uses members by reflection.")]
    public static Setter<TOwner, TMember> Setter<TOwner, TMember>(MemberInfo member)
    {
        if (!RuntimeFeature.IsDynamicCodeSupported) return ReflectedAccessors.Setter<TOwner, TMember>(member);
        DynamicMethod method = Method("set", typeof(void), typeof(TOwner).MakeByRefType(), typeof(TMember));
        ILGenerator il = method.GetILGenerator();
        LoadOwner(il, typeof(TOwner));
        il.Emit(OpCodes.Ldarg_1);
        if (member is FieldInfo field) il.Emit(OpCodes.Stfld, field);
        else Call(il, ((PropertyInfo)member).SetMethod!);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Setter<TOwner, TMember>>();
    }

    /// <summary>
    /// Makes a function that constructs an object from the values in the holders at <paramref name="arguments"/>, in the order of the constructor's parameters;
    /// <paramref name="held"/> gives the type of each value.
    /// </summary>
    [RequiresUnreferencedCode("Uses constructors by reflection.")]
    public static Func<Holder[], T> Constructor<T>(ConstructorInfo constructor, int[] arguments, Type[] held)
    {
        if (!RuntimeFeature.IsDynamicCodeSupported) return ReflectedAccessors.Constructor<T>(constructor, arguments);
        DynamicMethod method = Method("new", typeof(T), typeof(Holder[]));
        ILGenerator il = method.GetILGenerator();
        ParameterInfo[] parameters = constructor.GetParameters();
        for (int i = 0; i < arguments.Length; i++)
        {
            Type holder = typeof(Holder<>).MakeGenericType(held[i]);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, arguments[i]);
            il.Emit(OpCodes.Ldelem_Ref);
            il.Emit(OpCodes.Castclass, holder);
            il.Emit(OpCodes.Ldfld, holder.GetField(nameof(Holder<int>.Value))!);
            if (held[i].IsValueType && !parameters[i].ParameterType.IsValueType) il.Emit(OpCodes.Box, held[i]);
        }
        il.Emit(OpCodes.Newobj, constructor);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<Holder[], T>>();
    }

    [RequiresDynamicCode("Generates code.")]
    private static DynamicMethod Method(string name, Type returns, params Type[] parameters) => new(name, returns, parameters, typeof(Accessors).Module, skipVisibility: true);

    private static void LoadOwner(ILGenerator il, Type owner)
    {
        il.Emit(OpCodes.Ldarg_0);
        if (!owner.IsValueType) il.Emit(OpCodes.Ldind_Ref);
    }

    private static void Call(ILGenerator il, MethodInfo method) => il.Emit(method.IsVirtual && !method.DeclaringType!.IsValueType ? OpCodes.Callvirt : OpCodes.Call, method);
}
