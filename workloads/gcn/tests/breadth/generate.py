#!/usr/bin/env python3
"""Compiles these kernels at every level of optimisation and writes their inputs and what they must compute.

Needs clang-19, lld-19 and numpy. The outputs are computed here, from the meaning of the OpenCL source."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
TARGET = "-x cl -cl-std=CL2.0 -nogpulib -ffp-contract=off -target amdgcn-amd-amdhsa -mcpu=gfx600 -fno-ident -w -c".split()
for level in "0123":
    subprocess.run(["clang-19", *TARGET, f"-O{level}", HERE / "kernel.cl", "-o", HERE / f"kernel.O{level}.o"], check=True)
subprocess.run(["clang-19", *TARGET, "-O2", HERE / "typed.cl", "-o", HERE / "typed.o"], check=True)

import struct
import numpy as np
rng=np.random.default_rng(5)
np.seterr(all='ignore')
N=256
cases={}
def case(kernel, args, groups=N//64): cases[kernel]=(groups,args)
def f32(x): return np.asarray(x,np.float32)
i32=lambda n=N,lo=-2**31,hi=2**31: rng.integers(lo,hi,n,dtype=np.int64).astype(np.int32)
# f64
a=rng.normal(0,1e3,N); b=rng.normal(0,7,N); b[b==0]=1; a[:4]=[0.5,-2.5,1e300,3e-200]; b[:4]=[2.5,-0.5,1e-5,7e100]
from fractions import Fraction
def fma(x,y,z):
    try: return float(Fraction(x)*Fraction(y)+Fraction(z))
    except OverflowError: return np.inf*np.sign(x*y)
o=np.zeros((N,12))
o[:,0]=a+b;o[:,1]=a-b;o[:,2]=a*b;o[:,3]=a/b;o[:,4]=np.sqrt(np.abs(a));o[:,5]=[fma(x,y,1.5) for x,y in zip(a,b)];o[:,6]=np.floor(a);o[:,7]=np.rint(b)+0.0;o[:,8]=np.trunc(a);o[:,9]=np.ceil(b);o[:,10]=np.minimum(a,b);o[:,11]=np.maximum(a,b)+np.abs(b)-np.copysign(2.0,a)
case('f64arith',[('a','f64',a,None),('b','f64',b,None),('o','f64',None,o.ravel())])
def tdiv(x,y):
    q=abs(x)//abs(y); return q if (x<0)==(y<0) else -q
l=rng.integers(-2**63,2**63-1,N,dtype=np.int64); m=rng.integers(-2**63,2**63-1,N,dtype=np.int64)>>rng.integers(0,62,N); m[m==0]=3; l[:5]=[1,-1,2**62,-2**63+1,5]; m[:5]=[1,-1,3,7,2**40]
M=2**64
def s64(v): v%=M; return v-M if v>=M//2 else v
o=np.zeros((N,8),np.int64)
for i in range(N):
    x,y=int(l[i]),int(m[i]); ux,uy=x%M,y%M
    o[i]=[s64(v) for v in (tdiv(x,y),x-tdiv(x,y)*y,ux//uy,ux%uy,x*y,x<<(y&63),x>>(y&63),ux>>(uy&63))]
case('i64div',[('a','i64',l,None),('b','i64',m,None),('o','i64',None,o.ravel())])
x=i32();y=i32()>>rng.integers(0,31,N).astype(np.int32);y[y==0]=3;x[0]=-2**31+1;y[0]=-1
o=np.zeros((N,8),np.int64)
W=2**32
s32=lambda v:(v%W)-(W if v%W>=W//2 else 0)
for i in range(N):
    p,q=int(x[i]),int(y[i]);up,uq=p%W,q%W
    clz=32-(up|1).bit_length(); ctz=((up|0x80000000)&-(up|0x80000000)).bit_length()-1
    rev=int(f'{up:032b}'[::-1],2)
    o[i]=[s32(v) for v in (tdiv(p,q),p-tdiv(p,q)*q,up//uq,up%uq,p*q,(p*q)>>32,(up*uq)>>32,bin(up).count('1')+clz+ctz+rev)]
case('i32div',[('a','i32',x,None),('b','i32',y,None),('o','i32',None,o.ravel().astype(np.int32))])
f=f32(rng.normal(0,1e6,N)); f[:3]=[0.5,-1.5,2.75]
f=np.clip(f,-2e9,2e9).astype(np.float32)
d=rng.normal(0,1e6,N); d[:3]=[0.5,-2.5,123456.75]
k=i32();q=rng.integers(-2**62,2**62,N,dtype=np.int64)
q[:3]=[2**53+1,-2**53-3,(1<<60)+(1<<36)+1]
o=np.zeros((N,20),np.int64)
def bits32(v): return struct.unpack('<i',struct.pack('<f',v))[0]
def bits64(v): return struct.unpack('<q',struct.pack('<d',v))[0]
def i2f(v):  # exact int to f32, nearest even
    return float(np.float32(int(v))) if abs(v)<2**53 else float(np.array([v],dtype=np.uint64 if v>2**63-1 else np.int64).astype(np.float32)[0])
def sx(v,b): v%=1<<b; return v-(1<<b) if v>>(b-1) else v
for i in range(N):
    F=float(f[i]);D=float(d[i]);n=int(k[i]);z=int(q[i]);un=n%W;uz=z%M
    h=np.float16(f[i]); hb=int(np.array([h]).view(np.uint16)[0])
    o[i]=[int(F),int(abs(F)),int(F),int(abs(F)),int(D),int(abs(D)),int(D),int(abs(D)),bits32(i2f(n)),bits32(i2f(un)),bits32(i2f(z)),bits32(i2f(uz)),bits64(float(n)),bits64(float(un)),bits64(float(z)),bits64(float(uz)),bits64(F),bits32(np.float32(D)),sx(n,8)+3*sx(n,16)+5*((n>>8)&255)+7*((n>>3)&65535),hb+65536*bits32(float(h))]
case('conv',[('a','f32',f,None),('d','f64',d,None),('n','i32',k,None),('l','i64',q,None),('o','i64',None,o.ravel())])
x=i32(); xs=x.astype(np.int64)
bb=(xs&255).astype(np.uint8); ss=((xs>>3)&65535).astype(np.uint16).astype(np.int16)
v=np.stack([(xs>>s)&255 for s in (0,4,8,12)],1).astype(np.uint8).ravel()
u=((bb.astype(np.int64)*3+(ss.astype(np.int64)&65535))&65535).astype(np.uint16)
case('narrow',[('a','i32',x,None),('b','u8',None,bb),('s','i16',None,ss),('v','u8',None,v),('u','u16',None,u)])
x=i32(N,-1000,1000); o=np.zeros(N,np.int32)
for g in range(4):
    X=[int(t) for t in x[g*64:g*64+64]]; c=[100]*40; w=[1000]*16
    U=lambda v:v%W
    c[0]+=sum(X);c[1]-=sum(X);c[2]=min([100]+X);c[3]=max([100]+X);c[4]=min([100]+[U(t) for t in X]);c[5]=max([100]+[U(t) for t in X])
    for t in X: c[6]&=(t|64);c[7]|=t;c[8]^=t
    for t in range(9,17): c[t]=0
    for t in range(8): c[9+t]=X[t]
    for t in range(8,16): c[17+t-8]=100; c[25+t-8]=X[t]
    Y=[s64(t*0x100000001) for t in X]; UU=lambda v:v%M
    w[0]+=sum(Y);w[1]-=sum(Y);w[2]=min([1000]+Y);w[3]=max([1000]+Y);w[4]=min([1000]+[UU(t) for t in Y]);w[5]=max([1000]+[UU(t) for t in Y])
    for t in Y: w[6]&=(t|64);w[7]|=t;w[8]^=t
    for t in range(64):
        o[g*64+t]=s32(c[t]) if t<40 else (s32(s32(s64(w[t-40])>>32)^s32(U(w[t-40])*3)) if t<52 else 0)
case('ldsatom',[('a','i32',x,None),('o','i32',None,o)])
def fib(n,a,b):
    r=b
    for _ in range(n): r=a+b;a=b;b=r
    return r
x=i32(N,-1000,1000)
o=[np.float32(np.float32(np.float32(fib(int(t)&7,1,2))*np.float32(t*0.25))+np.float32(int(t)&7)) for t in x]
o=[np.float32(r+np.float32(fib(i&3,2,5))) for i,r in enumerate(o)]
case('calls',[('a','i32',x,None),('o','f32',None,f32(o))])
x=i32(N,0,5000); o=np.zeros(N,np.int32)
for i in range(N):
    A=[int(t) for t in x]
    buf=[s32(A[(i+k_)&63]*k_) for k_ in range(200)];by=[(A[(i*3+k_)&63]+k_)&255 for k_ in range(64)];lo=[buf[(A[i]+k_*7)&127]*0x10001 for k_ in range(20)]
    s=0
    for k_ in range(50):
        at=(A[k_]^i)&127; s=s32(s*31+buf[at]+by[at&63]+s32(lo[at%20]>>7))
    o[i]=s
case('priv',[('a','i32',x,None),('o','i32',None,o)])
x=i32(N,-100000,100000); o=np.zeros(N,np.int32)
def trem(p,q): return p-tdiv(p,q)*q
for i in range(N):
    X=int(x[i]);r=0
    for k_ in range(5):
        c=(X+k_)&15
        if c==0:r+=3
        elif c==1:r^=X;r=r*5+1
        elif c==2:r=r*5+1
        elif c==3:r-=k_
        elif c==4:r=~r
        elif c==5:r<<=1
        elif c==7:r+=X>>3
        elif c==8:r=-r
        elif c==11:r=trem(r,1009)
        elif c==12:r|=5
        else:r+=X
        r=s32(r)
    o[i]=r
case('sw',[('a','i32',x,None),('o','i32',None,o)])
a4=f32(rng.integers(-500,500,(N,4))/4); b3=i32(4*N,-1000,1000).reshape(N,4)
o=np.zeros((N,8),np.float32); q=np.zeros((N,16),np.int32)
for i in range(N):
    A=a4[i];n=b3[i]; o[i,:4]=A[::-1]*2; o[i,4:]=[A[0]+n[0],A[2]+n[1],A[1]+n[2],A[3]+1]
    q[i]=[n[0],n[1],n[2],n[2],n[1],n[0],n[0],n[0],n[1],n[1],n[2],n[2]]+[int(t) for t in A]
case('vec',[('a','f32',a4.ravel(),None),('b','i32',b3.ravel(),None),('o','f32',None,o.ravel()),('q','i32',None,q.ravel())])
x=f32(rng.normal(0,100,N)); y=f32(rng.normal(0,10,N)); y[y==0]=1; x[:4]=[0.5,-2.5,3.0,1e-3]; y[:4]=[2.5,1.5,-0.5,7]
o=np.zeros((N,16),np.float32)
for i in range(N):
    X,Y=x[i],y[i]; me,ee=np.frexp(X)
    o[i]=[X/Y,np.sqrt(abs(X)),np.floor(X),np.rint(Y),np.float32(float(X)*float(Y)+0.5),min(X,Y),max(X,Y),np.copysign(X,Y),np.trunc(X),np.ceil(Y),np.float32(X*Y)+np.float32(1),np.float32(X-np.floor(X)),X*32,ee,me,sorted([X,Y,np.float32(1)])[1]]
case('fmath',[('x','f32',x,None),('y','f32',y,None),('o','f32',None,o.ravel(),2e-7)])
s32_=s32
rng=np.random.default_rng(3)
a=rng.integers(-50,90,64).astype(np.int32); a[:10]=np.arange(10); f=np.arange(256,dtype=np.float32)*0.5; u,w=17,40
s32=lambda v:((v+2**31)%2**32)-2**31
o=np.zeros((64,15),np.int32)
for t in range(64):
    x=int(a[t])
    o[t]=[7,9,u-w,s32(x*(t+3)),x==t,0,1,1,0,x!=t,x==t,x!=t,1,a[3],int(a[4])^int(a[5])]
g=np.zeros((64,10),np.float32)
for t in range(64):
    v=f[4*t:4*t+4]; g[t]=[v[0],v[0],v[1],v[0],v[1],v[2],v[0],v[1],v[2],v[3]]
case('odd',[('a','i32',a,None),('o','i32',None,o.ravel()),('f','f32',f,None),('g','f32',None,g.ravel())],1)
scalars={'odd':[('u',u),('w',w)]}

text='name = "breadth"\n'
for kname,(g,args) in cases.items():
    text+=f'\n[{kname}]\nkernel = "{kname}"\ngrid = [{g}, 1, 1]\nblock = [64, 1, 1]\n'
    for a in args:
        n,t,inp,out=a[:4]; arr=inp if inp is not None else out
        file=f'data/{kname}_{n}.bin'; np.ascontiguousarray(arr).tofile(HERE/file)
        text+=f'\n[[{kname}.arg]]\nname = "{n}"\nkind = "{"in" if inp is not None else "out"}"\ntype = "{t}"\ncount = {arr.size}\nfile = "{file}"\n'
        if inp is None: text+='init = "poison_bytes(0xCD)"\n'
        if len(a)>4: text+=f'tol_rel = {a[4]}\n'
    for n,v in scalars.get(kname,[]):
        text+=f'\n[[{kname}.arg]]\nname = "{n}"\nkind = "scalar"\ntype = "i32"\nvalue = {v}\n'
(HERE/'meta.toml').write_text(text)
